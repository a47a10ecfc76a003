import type { ApprovalRow } from '../log/approval-store.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** The call waits for a decision. */
export function approvalRequired(row: ApprovalRow): SmithersError {
  const { id, toolName, toolCallId, prompt, expiresAtMs } = row
  return new SmithersError(
    'TOOL_APPROVAL_REQUIRED',
    `Tool "${toolName}" was not run: it waits for approval ${id}.${prompt === null ? '' : ` ${prompt}`} ` +
      'The run pauses here. Do not call the tool again; it goes on when somebody has decided.',
    {
      details: { approvalId: id, toolName, toolCallId, expiresAtMs },
      effect: 'none',
    },
  )
}

/** Somebody said no, or nobody said anything in time. */
export function approvalRejected(row: ApprovalRow): SmithersError {
  const { id, toolName, comment, decidedBy, status, expiresAtMs } = row
  const why =
    status === 'expired'
      ? `nobody approved it before ${new Date(expiresAtMs ?? 0).toISOString()}`
      : (comment ?? 'no reason was given')
  return new SmithersError('TOOL_APPROVAL_REJECTED', `Tool call rejected: ${why}`, {
    details: { approvalId: id, toolName, decidedBy, expired: status === 'expired' },
    effect: 'none',
  })
}

/** A decision came after another one. */
export function alreadyDecided(row: ApprovalRow): SmithersError {
  const { id, toolName, status, decidedBy, decidedAtMs, comment } = row
  const by = decidedBy === null ? '' : ` by ${decidedBy}`
  const at = decidedAtMs === null ? '' : ` at ${new Date(decidedAtMs).toISOString()}`
  const ran = status === 'executed'
  const verb = ran ? 'approved' : status
  return new SmithersError(
    'TOOL_APPROVAL_DECIDED',
    `Approval ${id} of tool "${toolName}" was already ${verb}${by}${at}${ran ? ', and has run' : ''}. A decision is final.`,
    {
      details: { approvalId: id, toolName, status, decidedBy, decidedAtMs, comment },
      effect: 'none',
    },
  )
}

/** The log cannot keep approvals. */
export function approvalsUnsupported(logName: string): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `The log "${logName}" cannot keep approvals, so a call that needs one cannot run. Use a log whose capabilities.approvals is true.`,
    { details: { log: logName }, effect: 'none' },
  )
}
