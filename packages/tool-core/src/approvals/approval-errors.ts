import type { ApprovalRow } from '../log/approval-store.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** The call waits for a decision. @param problem Why an answer was not one. */
export function approvalRequired(row: ApprovalRow, problem?: string): SmithersError {
  const { id, toolName, toolCallId, prompt, expiresAtMs } = row
  const texts = [
    `Tool "${toolName}" was not run: it waits for approval ${id}.`,
    prompt,
    problem,
    'The run pauses here. Do not call the tool again; the run continues after the decision.',
  ]
  return new SmithersError(
    'TOOL_APPROVAL_REQUIRED',
    texts.filter((text) => text !== null && text !== undefined).join(' '),
    {
      details: { approvalId: id, toolName, toolCallId, expiresAtMs },
      effect: 'none',
    },
  )
}

/** The decision was no, or did not come in time. */
export function approvalRejected(row: ApprovalRow): SmithersError {
  const { id, toolName, comment, decidedBy, status, expiresAtMs } = row
  const why =
    status === 'expired'
      ? `it was not approved before ${new Date(expiresAtMs ?? 0).toISOString()}`
      : (comment ?? 'no reason was given')
  return new SmithersError('TOOL_APPROVAL_REJECTED', `Tool call rejected: ${why}`, {
    details: { approvalId: id, toolName, decidedBy, expired: status === 'expired' },
    effect: 'none',
  })
}

/** A decision came after another one, or for a call that the agent has replaced. */
export function alreadyDecided(row: ApprovalRow): SmithersError {
  const { id, toolName, status, decidedBy, decidedAtMs, comment } = row
  return new SmithersError('TOOL_APPROVAL_DECIDED', messageOf(row), {
    details: { approvalId: id, toolName, status, decidedBy, decidedAtMs, comment },
    effect: 'none',
  })
}

function messageOf({ id, toolName, status, decidedBy, decidedAtMs }: ApprovalRow): string {
  const subject = `Approval ${id} of tool "${toolName}"`
  if (status === 'superseded') {
    return `${subject} was superseded: the agent made the call again with other arguments. Decide about the new request; pendingApprovals lists it.`
  }
  const by = decidedBy === null ? '' : ` by ${decidedBy}`
  const at = decidedAtMs === null ? '' : ` at ${new Date(decidedAtMs).toISOString()}`
  const ran = status === 'used'
  return `${subject} was already ${ran ? 'approved' : status}${by}${at}${ran ? ', and its call has run' : ''}. A decision is final.`
}

/** The log cannot keep approvals. */
export function approvalsUnsupported(logName: string): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `The log "${logName}" cannot keep approvals, so a call that needs one cannot run. Use a log whose capabilities.approvals is true.`,
    { details: { log: logName }, effect: 'none' },
  )
}
