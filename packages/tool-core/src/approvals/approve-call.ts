import { chain, rescue } from '../async/maybe-promise.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import { inTime } from '../async/with-timeout.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { ApprovableCall, ApprovedCall } from './approvable-call.ts'
import { approvalRejected, approvalsUnsupported } from './approval-errors.ts'
import { approvalUse, closeApproval, closeUsedApprovals, erasePreview } from './approval-use.ts'
import { checkApprovedArguments } from './check-approved-arguments.ts'
import { decideNow } from './decide-now.ts'
import { expireIfDue, recordDecision } from './record-decision.ts'
import { createApprovalRequest, promptWithNote, undecided } from './create-approval-request.ts'
import { sdkApprovalOf } from './sdk-approval.ts'

/**
 * Lets a call go on when it needs no approval (undefined) or has one. An approval serves one execution of one call with
 * the arguments that were shown, in whichever attempt or process; its start row then uses it.
 *
 * @throws SmithersError `TOOL_APPROVAL_REQUIRED` while the decision is pending, `TOOL_APPROVAL_REJECTED` when it was no,
 *   `TOOL_LOG_UNAVAILABLE` when the log cannot keep approvals.
 */
export function approveCall(
  call: ApprovableCall,
  settings: ApprovalSettings,
): MaybePromise<ApprovedCall | undefined> {
  return chain(isNeeded(settings, call), (yes) => (yes ? approve(call, settings) : undefined))
}

/**
 * Whether a call needs approval: unless the rule says `false`. A rule that fails, or takes longer than the tool may, has
 * allowed nothing.
 */
export function isNeeded(
  { needed, readsContext }: ApprovalSettings,
  {
    args,
    context,
    definition,
    task,
  }: Pick<ApprovableCall, 'args' | 'context' | 'definition' | 'task'>,
): MaybePromise<boolean> {
  if (needed === true) return true
  return rescue(
    () =>
      chain(
        inTime(
          needed(args, readsContext ? context() : noContext) as MaybePromise<unknown>,
          definition.timeoutMs ?? task.timeoutMs,
          (timeoutMs) => new Error(`needsApproval took longer than ${timeoutMs} ms`),
        ),
        (answer) => answer !== false,
      ),
    () => true,
  )
}

const noContext = Object.freeze({}) as ToolContext

async function approve(call: ApprovableCall, settings: ApprovalSettings): Promise<ApprovedCall> {
  const { task, log, policy, callKey, row: start } = call
  const { runId } = task
  const store = approvalsOf(log)
  await closeUsedApprovals(store, { log, task }, policy.onLogError)
  const wanted = { runId, callKey, inputHash: start.inputHash ?? '', limit: 1 }
  for (;;) {
    const [latest] = await store.list(wanted)
    const approval = latest === undefined ? undefined : await expireIfDue(store, latest, nowOf(log))
    switch (approval?.status) {
      case 'rejected':
      case 'expired':
        tellDecision(call, approval)
        throw approvalRejected(approval)
      case 'pending':
        await repeatRequest(store, approval, call)
        await decideNow(store, approval, call, settings)
        break
      case 'approved': {
        const use = await approvalUse(log, approval.id)
        if (use.kind === 'used') {
          await closeApproval(store, approval.id, policy.onLogError)
          await requestApproval(
            store,
            call,
            settings,
            `This call has run before, and ${use.outcome}.`,
          )
          break
        }
        // One that runs now keeps this call's start row out of the log; the call then waits for it.
        const approved = await withApproversArguments(store, approval, call, settings)
        if (approved === undefined) break
        tellDecision(call, approval)
        return approved
      }
      case 'used':
        await requestApproval(store, call, settings, await noteOfUse(log, approval.id))
        break
      default:
        await requestApproval(store, call, settings)
    }
  }
}

function tellDecision(call: ApprovableCall, approval: ApprovalRow): void {
  const { id: approvalId, status, decidedBy, decidedAtMs, requestedAtMs } = approval
  const waitMs = Math.max(0, (decidedAtMs ?? nowOf(call.log)) - requestedAtMs)
  const approved = status === 'approved'
  call.trace?.event('approval-decided', { approvalId, approved, decidedBy, waitMs })
}

async function noteOfUse(log: ToolCallLog, approvalId: string): Promise<string> {
  const use = await approvalUse(log, approvalId)
  return use.kind === 'used'
    ? `This call has run before, and ${use.outcome}.`
    : 'This call has run before.'
}

/** The store of a log. */
export function approvalsOf(log: ToolCallLog): ApprovalStore {
  if (log.capabilities.approvals !== true || log.approvals === undefined) {
    throw approvalsUnsupported(log.name)
  }
  return log.approvals
}

/** Stores the request; the user of the AI SDK may have decided already. */
async function requestApproval(
  store: ApprovalStore,
  call: ApprovableCall,
  settings: ApprovalSettings,
  note?: string,
): Promise<void> {
  const stored = await store.request(await createApprovalRequest(call, settings, note))
  call.trace?.event('approval-requested', { approvalId: stored.id })
  const approvalId = sdkApprovalOf(call.messages, call.row.toolCallId ?? '')
  if (approvalId === undefined || stored.status !== 'pending') return
  const decidedBy = `ai-sdk:${approvalId}`
  // One answer of the user serves one execution.
  const { runId, callKey } = stored
  const earlier = await store.list({ runId, callKey, limit: Infinity })
  if (earlier.some((row) => row.decidedBy === decidedBy)) return
  await recordDecision(store, stored, { approved: true, decidedBy }, nowOf(call.log))
}

/** Shows the approver the call that requested last, in case another attempt makes it again. */
async function repeatRequest(
  store: ApprovalStore,
  pending: ApprovalRow,
  { row: { toolCallId, attempt } }: ApprovableCall,
): Promise<void> {
  if (pending.toolCallId === toolCallId && pending.attempt === attempt) return
  await store.update(pending.id, 'pending', { toolCallId: toolCallId ?? '', attempt })
}

/**
 * Takes the approver's arguments instead of the agent's when there are some. Only the tool's own schema can tell whether
 * they fit after all: when they do not, the request is pending again (undefined).
 */
async function withApproversArguments(
  store: ApprovalStore,
  approval: ApprovalRow,
  call: ApprovableCall,
  { prompt, ttlMs }: ApprovalSettings,
): Promise<ApprovedCall | undefined> {
  const { id, approvedArgsJson, decidedBy } = approval
  const { definition, args, policy, task } = call
  const timeoutMs = definition.timeoutMs ?? task.timeoutMs
  const held = {
    approvalId: id,
    close: (): Promise<void> => closeApproval(store, id, policy.onLogError),
    erasePreview: (): Promise<void> => erasePreview(store, approval, policy.onLogError),
  }
  if (approvedArgsJson === null) return { args, ...held }
  const checked = await checkApprovedArguments(
    definition.schema,
    JSON.parse(approvedArgsJson),
    timeoutMs,
  )
  if (checked.ok) return { args: checked.args, ...held }
  const by = decidedBy === null ? '' : ` by ${decidedBy}`
  const note = `The arguments given${by} do not match the schema of the tool. ${checked.problem}. Correct them and decide again.`
  await store.update(id, 'approved', {
    ...undecided,
    prompt: promptWithNote(policy.redact.hideIn(note), prompt, call),
    expiresAtMs: ttlMs === undefined ? null : nowOf(call.log) + ttlMs,
  })
  return undefined
}
