import type { Steps } from '../async/maybe-promise.ts'
import type { ToolContext } from '../contract/task-context.ts'
import { isSmithersError } from '../errors/smithers-error.ts'
import { type Admission, passGates } from '../gates/pass-gates.ts'
import type { CachedResult } from '../gates/result-cache.ts'
import { boundedLog } from '../log/bounded-log.ts'
import { type BegunCall, type CallScope, waitError } from './call-scope.ts'

/** What the gates of a tool see of a call. */
interface GatedCall {
  readonly args: unknown
  /** The same for this call in every attempt. */
  readonly callKey: string
  readonly context: () => ToolContext
}

/** Passes a call through the gates of its tool, or refuses it; in a run, a call that waits for approval pauses it. */
export function* visitGates(
  call: CallScope,
  gates: NonNullable<CallScope['definition']['gates']>,
  { args, callKey, context }: GatedCall,
): Steps<Admission> {
  const { definition, task, journal, record, options, finish } = call
  try {
    return yield* passGates({
      definition,
      gates,
      task,
      policy: journal.policy,
      row: record.row,
      trace: record.trace,
      callKey,
      args,
      messages: options.messages,
      context,
      abort: call.abort,
      log:
        definition.timeoutMs === undefined
          ? journal.log
          : boundedLog(task.log, Math.min(journal.policy.logTimeoutMs, definition.timeoutMs)),
    })
  } catch (thrown) {
    const error = waitError(call, thrown)
    const waits = isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
    // Outside a run there is nothing to pause or to resume.
    if (waits && !task.ephemeral) journal.pause.add(error)
    return yield* finish.refuse(error)
  }
}

/** Answers with the output of an equal call of the run. */
export function* answerFromCache(
  { record, finish }: CallScope,
  { output, callToken }: CachedResult,
): Steps<BegunCall> {
  const hit = { status: 'success', effect: 'none', fromCache: true } as const
  yield* finish.recordUnrun({
    ...hit,
    output: record.describeOutput(output),
    replayOf: callToken,
  })
  return { kind: 'answer', output }
}

/** Gives back what the gates reserved for a call that does not run. */
export function releaseReservation(call: CallScope): void {
  const { reservation } = call
  call.reservation = undefined
  reservation?.release()
}
