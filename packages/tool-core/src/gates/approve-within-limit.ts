import { nowOf } from '../log/log-clock.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import { settled, type Steps } from '../async/maybe-promise.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { approveCall, isNeeded } from '../approvals/approve-call.ts'
import { unusedApprovals } from '../approvals/approval-use.ts'
import {
  type ApprovableCall,
  type ApprovedCall,
  unlessAborted,
} from '../approvals/approvable-call.ts'
import { type ExecutionLimit, limitError } from './execution-limit.ts'
import type { ApprovalSettings, LimitSettings } from '../contract/gate-options.ts'

/**
 * Lets a call go on that holds a slot of its tool's limit, when it needs no approval or has one. Approval
 * is requested for no more calls than may still run: each pending or unused approval keeps a slot.
 *
 * @throws SmithersError as {@link approveCall}, and `TOOL_LIMIT_REACHED`
 */
export function* approveWithinLimit(
  call: ApprovableCall,
  settings: ApprovalSettings,
  { most }: LimitSettings,
  executions: ExecutionLimit,
): Steps<ApprovedCall | undefined> {
  if (!(yield* unlessAborted(call, isNeeded(settings, call)))) return undefined
  const { task, log, callKey, row } = call
  const answered = executions.ask(callKey)
  try {
    const open = yield* openApprovals(log, task, row.toolName)
    const keptFor = executions.keptFor(most, callKey, open)
    if (keptFor !== undefined) throw limitError(row.toolName, most, keptFor)
    return yield* unlessAborted(call, approveCall(call, { ...settings, needed: true }))
  } finally {
    answered()
  }
}

/** The approvals of a tool for which its limit keeps a slot: those that are pending, and those given and not yet used. */
function* openApprovals(
  log: ToolCallLog,
  { runId }: TaskContext,
  toolName: string,
): Steps<readonly ApprovalRow[]> {
  const { approvals, capabilities } = log
  if (approvals === undefined || capabilities.approvals !== true) return []
  const pending = yield* settled(withStatus(approvals, runId, 'pending'))
  const approved = yield* settled(withStatus(approvals, runId, 'approved'))
  const nowMs = nowOf(log)
  const open = [...pending, ...approved].filter(
    ({ toolName: name, status, expiresAtMs }) =>
      name === toolName && (status === 'approved' || (expiresAtMs ?? Infinity) > nowMs),
  )
  return open.length === 0 ? open : yield* settled(unusedApprovals(log, open))
}

function withStatus(
  store: ApprovalStore,
  runId: string,
  status: 'pending' | 'approved',
): MaybePromise<ApprovalRow[]> {
  return store.list({ runId, status, limit: Infinity })
}
