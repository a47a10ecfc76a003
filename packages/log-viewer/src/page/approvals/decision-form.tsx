import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalView, DecideRequest } from '../../api/approvals.ts'
import { decide } from '../model/approvals.ts'
import { useViewer } from '../parts/use-viewer.ts'
import { visibleLine } from '../text/visible-text.ts'
import { JsonValue } from '../value/json-value.tsx'
import { readArguments } from './read-arguments.ts'

/** Approves or rejects a request. A call that is not known to be safe to repeat is confirmed a second time. */
export function DecisionForm({ approval }: { approval: ApprovalView }): VNode {
  const [comment, setComment] = useState('')
  const [changed, setChanged] = useState<string | null>(null)
  const { send, problem, busy, confirming, cancel } = useDecision(approval, { comment, changed })
  return (
    <form class="decision-form" onSubmit={(event) => event.preventDefault()}>
      <ChangedArguments approval={approval} changed={changed} change={setChanged} />
      <label class="field">
        <span>Comment, which the agent reads</span>
        <input
          type="text"
          maxLength={2000}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
      </label>
      {problem !== null && (
        <p class="problem" role="alert">
          {visibleLine(problem)}
        </p>
      )}
      {confirming ? (
        <Confirmation
          toolName={approval.toolName}
          args={changed ?? approval.inputJson ?? 'null'}
          busy={busy}
          confirm={() => void send(true, true)}
          cancel={cancel}
        />
      ) : (
        <div class="buttons">
          <button
            type="button"
            class="button strong"
            disabled={busy}
            onClick={() => void send(true, false)}
          >
            {approval.mustConfirm ? 'Approve…' : 'Approve'}
          </button>
          <button
            type="button"
            class="button"
            disabled={busy}
            onClick={() => void send(false, false)}
          >
            Reject
          </button>
        </div>
      )}
    </form>
  )
}

interface Decision {
  readonly send: (approved: boolean, confirmed: boolean) => Promise<void>
  /** Why the decision was not recorded. */
  readonly problem: string | null
  readonly busy: boolean
  readonly confirming: boolean
  readonly cancel: () => void
}

/** Sends a decision, once the reader has confirmed it where that is needed. */
function useDecision(
  approval: ApprovalView,
  { comment, changed }: { readonly comment: string; readonly changed: string | null },
): Decision {
  const viewer = useViewer()
  const [confirming, setConfirming] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  async function send(approved: boolean, confirmed: boolean): Promise<void> {
    setProblem(null)
    const args = approved && changed !== null ? readArguments(changed) : undefined
    if (args?.ok === false) return setProblem(args.problem)
    if (approved && approval.mustConfirm && !confirmed) return setConfirming(true)
    const request: DecideRequest = {
      id: approval.id,
      inputHash: approval.inputHash,
      approved,
      ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
      ...(args === undefined ? {} : { approvedArgs: args.value }),
      ...(confirmed ? { confirmed } : {}),
    }
    setBusy(true)
    const failed = await decide(viewer, request)
    setBusy(false)
    setConfirming(false)
    if (failed !== undefined) setProblem(failed.message)
  }
  return { send, problem, busy, confirming, cancel: () => setConfirming(false) }
}

interface ChangedArgumentsProps {
  readonly approval: ApprovalView
  /** What is typed; null keeps the arguments. */
  readonly changed: string | null
  readonly change: (text: string | null) => void
}

/** Other arguments to run with, where the log has the schema to check them. */
function ChangedArguments({ approval, changed, change }: ChangedArgumentsProps): VNode | null {
  const { inputSchemaJson, defaultsJson, inputJson } = approval
  if (inputSchemaJson === null) return null
  return (
    <>
      <button
        type="button"
        class="button small quiet"
        aria-expanded={changed !== null}
        onClick={() => change(changed === null ? laidOut(defaultsJson ?? inputJson ?? '{}') : null)}
      >
        {changed === null ? 'Change the arguments' : 'Keep the arguments as they are'}
      </button>
      {changed !== null && (
        <label class="field">
          <span>Arguments to run with, as JSON</span>
          <textarea
            class="mono"
            rows={Math.min(14, changed.split('\n').length + 1)}
            spellcheck={false}
            value={changed}
            onInput={(event) => change(event.currentTarget.value)}
          />
        </label>
      )}
    </>
  )
}

interface ConfirmationProps {
  readonly toolName: string
  /** What it would run with, as JSON. */
  readonly args: string
  readonly busy: boolean
  readonly confirm: () => void
  readonly cancel: () => void
}

/** Shows once more what would run, and takes the focus. */
function Confirmation({ toolName, args, busy, confirm, cancel }: ConfirmationProps): VNode {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <div class="confirm" role="alertdialog" aria-label="Confirm the approval">
      <p>
        <b>This runs {visibleLine(toolName)} for real.</b> It is not known to be safe to repeat.
      </p>
      <JsonValue json={args} what="These arguments" />
      <div class="buttons">
        <button ref={button} type="button" class="button strong" disabled={busy} onClick={confirm}>
          Yes, run it
        </button>
        <button type="button" class="button" onClick={cancel}>
          Not yet
        </button>
      </div>
    </div>
  )
}

function laidOut(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
