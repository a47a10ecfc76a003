import type { VNode } from 'preact'
import type { ApprovalPreview, ApprovalView } from '../../api/approvals.ts'
import { Section } from '../parts/section.tsx'
import { useSelected } from '../parts/use-viewer.ts'
import { duration, moment } from '../text/format.ts'
import { Text } from '../text/text.tsx'
import { visibleLine } from '../text/visible-text.ts'
import { Patch } from '../value/difference.tsx'
import { JsonValue } from '../value/json-value.tsx'
import { TextBlock } from '../value/text-block.tsx'
import { ValueBoundary } from '../value/value-boundary.tsx'
import { DecisionForm } from './decision-form.tsx'

interface ApprovalCardProps {
  readonly approval: ApprovalView
  /** Beside the inbox the card also names its call and shows the arguments. */
  readonly inInbox?: boolean
}

/** A request for approval: what would run, and who decided what. */
export function ApprovalCard({ approval, inInbox = false }: ApprovalCardProps): VNode {
  const { toolName, nodeId, attempt, prompt, preview, inputJson, status } = approval
  const session = useSelected((state) => state.session)
  const canDecide = session.state === 'ready' && session.value.canDecide
  return (
    <div class="approval" data-status={status}>
      {inInbox && (
        <header class="call-head">
          <div class="call-title">
            <h2 class="mono">{visibleLine(toolName)}</h2>
            <span class="badge" data-outcome="waiting">
              waits for approval
            </span>
          </div>
          <p class="call-where faint">
            <span>{visibleLine(nodeId)}</span>
            <span>attempt {attempt}</span>
            <span class="mono">{visibleLine(approval.runId)}</span>
          </p>
        </header>
      )}
      {!inInbox && <h3 class="approval-title">Approval</h3>}
      <Decision approval={approval} />
      {prompt !== null && (
        <p class="prompt">
          <Text>{prompt}</Text>
        </p>
      )}
      {preview !== null && (
        <Section title="What it would do">
          <ValueBoundary what="The preview">
            <Preview preview={preview} />
          </ValueBoundary>
        </Section>
      )}
      {inInbox && (
        <Section title="Arguments">
          {inputJson === null ? (
            <p class="faint">Not recorded.</p>
          ) : (
            <JsonValue json={inputJson} what="These arguments" />
          )}
        </Section>
      )}
      {status === 'pending' && canDecide && <DecisionForm key={approval.id} approval={approval} />}
      {status === 'pending' && !canDecide && (
        <p class="note">
          This page only shows. To decide here, start it with <code>smithers view --decide</code>.
        </p>
      )}
    </div>
  )
}

function Preview({ preview }: { preview: ApprovalPreview }): VNode {
  if (preview.kind === 'patch' && typeof preview.patch === 'string') {
    return <Patch patch={preview.patch} />
  }
  return <TextBlock text={preview.kind === 'text' ? preview.text : ''} />
}

const decisions: Readonly<Record<ApprovalView['status'], string>> = {
  pending: 'Waits for a decision',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired without a decision',
  used: 'Approved, and the call ran with it',
  superseded: 'Superseded: the agent asked again with other arguments',
}

/** Who decided what, when and why. */
function Decision({ approval }: { approval: ApprovalView }): VNode {
  const { status, requestedAtMs, expiresAtMs, decidedAtMs, decidedBy, comment } = approval
  const by = decidedBy === null ? '' : ` by ${visibleLine(decidedBy)}`
  return (
    <div class="decision">
      <p>
        <b>{decisions[status] ?? status}</b>
        {by}
        {approval.argumentsChanged && ', with changed arguments'}
      </p>
      <p class="faint">
        Requested {moment(requestedAtMs)}
        {decidedAtMs !== null && `, decided ${duration(decidedAtMs - requestedAtMs)} later`}
        {status === 'pending' && expiresAtMs !== null && `, expires ${moment(expiresAtMs)}`}
      </p>
      {comment !== null && (
        <blockquote>
          <Text>{comment}</Text>
        </blockquote>
      )}
    </div>
  )
}
