import type { Steps } from '../async/maybe-promise.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { isNeeded } from '../approvals/approve-call.ts'
import {
  type ApprovableCall,
  type ApprovedCall,
  unlessAborted,
} from '../approvals/approvable-call.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import { gatesOutsideRun } from './gates-outside-run.ts'
import { sdkApprovalOf } from '../approvals/sdk-approval.ts'

/**
 * Lets a call outside any run go on when it needs no approval, or when a user of the AI SDK has approved it. A request
 * would be lost with the call, before a decision could reach it, so none is made.
 *
 * @throws SmithersError `TOOL_APPROVAL_REQUIRED`
 */
export function* approveOutsideRun(
  call: ApprovableCall,
  settings: ApprovalSettings,
): Steps<ApprovedCall | undefined> {
  if (!(yield* unlessAborted(call, isNeeded(settings, call)))) return undefined
  const { definition, messages, row, args } = call
  const approvalId = sdkApprovalOf(messages, row.toolCallId ?? '')
  const { usedApprovals } = gatesOutsideRun(definition, messages)
  // One answer of the user serves one execution.
  if (approvalId === undefined || usedApprovals.has(approvalId)) throw needsRun(row.toolName)
  usedApprovals.add(approvalId)
  const release = (): void => void usedApprovals.delete(approvalId)
  return { args, approvalId: null, release }
}

function needsRun(toolName: string): SmithersError {
  return new SmithersError(
    'TOOL_APPROVAL_REQUIRED',
    `Tool "${toolName}" was not run: it needs approval, and was called outside a run, where approval cannot be requested. Do not call it again. ` +
      'For its program: call it in a run with a log, createToolRun({ runId, log }).tools(…), decide at once with the onApproval of such a run, or let the AI SDK ask with toolApproval: approvalFor(tools).',
    { details: { toolName, approvalId: null }, effect: 'none' },
  )
}
