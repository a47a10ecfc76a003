import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { chain, rescue } from '../async/maybe-promise.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { inProgressError } from '../journal/call-errors.ts'
import type { ToolContext } from '../contract/task-context.ts'
import { approvalRejected, approvalRequired, approvalsUnsupported } from './approval-errors.ts'
import { approvalRequest } from './approval-request.ts'
import { takeApproval, useOf, waitForUse } from './approval-use.ts'
import { forgetArguments, forgetSpentArguments, runWithApproval } from './approved-arguments.ts'
import { checkArguments } from './check-approved-arguments.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import { decide, expireIfDue } from './record-decision.ts'
import type { ApprovalQuestion } from '../contract/on-approval.ts'
import { sdkApprovalOf } from './sdk-approval.ts'
import type { ApprovableCall, ApprovedCall } from './approvable-call.ts'

/**
 * Lets a call go on when it needs no approval or has one. An approval serves one execution of one call, whichever
 * attempt or process makes it.
 *
 * @throws SmithersError `TOOL_APPROVAL_REQUIRED` when a decision is pending, `TOOL_APPROVAL_REJECTED` when it was no,
 *   `TOOL_LOG_UNAVAILABLE` when the log cannot keep approvals.
 */
export function approveCall(
  call: ApprovableCall,
  settings: ApprovalSettings,
): MaybePromise<ApprovedCall | undefined> {
  return chain(isNeeded(settings, call), (yes) => (yes ? approve(call, settings) : undefined))
}

/** Whether a call needs approval at all. */
export function isNeeded(
  { needed, readsContext }: ApprovalSettings,
  { args, context }: ApprovableCall,
): MaybePromise<boolean> {
  if (needed === true) return true
  // A rule that cannot decide has allowed nothing.
  return rescue(
    () => needed(args, readsContext ? context() : noContext),
    () => true,
  )
}

const noContext = Object.freeze({}) as ToolContext

async function approve(call: ApprovableCall, settings: ApprovalSettings): Promise<ApprovedCall> {
  const store = approvalsOf(call.task.log)
  const { runId } = call.task
  await forgetSpentArguments(store, call)
  for (;;) {
    const [latest] = await store.list({ runId, callKey: call.callKey, limit: 1 })
    const row = latest === undefined ? undefined : await expireIfDue(store, latest)
    switch (row?.status) {
      case 'rejected':
      case 'expired':
        throw approvalRejected(row)
      case 'pending': {
        await answerPending(store, row, call, settings)
        break
      }
      case 'approved': {
        const approved = await take(store, row, call, settings)
        if (approved !== undefined) return approved
        break
      }
      case 'executed': {
        const use = await useOf(call.task.log, row, call.policy.leaseMs)
        if (use.kind === 'unspent') {
          const approved = await take(store, row, call, settings)
          if (approved !== undefined) return approved
        } else if (use.kind === 'running') {
          const winner = await waitFor(row, call)
          if (winner !== undefined) {
            return { args: call.args, winner, giveBack: undefined, forget: undefined }
          }
        } else {
          await forgetArguments(store, row, call.policy.onLogError)
          await ask(store, call, settings, {
            note: `This call has run before, and ${use.outcome}.`,
            answered: row.decidedBy,
          })
        }
        break
      }
      default:
        await ask(store, call, settings, { note: undefined, answered: undefined })
    }
  }
}

/** Uses an approval; undefined when it has to be looked at again. */
async function take(
  store: ApprovalStore,
  row: ApprovalRow,
  call: ApprovableCall,
  settings: ApprovalSettings,
): Promise<ApprovedCall | undefined> {
  const { callToken } = call.row
  if (!(await takeApproval(store, row, callToken))) return undefined
  if (row.status === 'executed' && (await isUsed(row, call))) {
    const { usedBy, usedByOwner, usedAtMs } = row
    await store.update(
      row.id,
      { status: 'executed', usedBy: callToken },
      { usedBy, usedByOwner, usedAtMs },
    )
    return undefined
  }
  return runWithApproval(store, row, call, settings)
}

/**
 * Whether the call from which an approval was taken has started after all. That call looks for its approval once its
 * start is recorded, and this one looks for that start once it has the approval: so at least one of them sees the other.
 */
async function isUsed(row: ApprovalRow, { task, policy }: ApprovableCall): Promise<boolean> {
  return (await useOf(task.log, row, policy.leaseMs)).kind !== 'unspent'
}

/** Another run makes this very call with the same approval. */
async function waitFor(row: ApprovalRow, call: ApprovableCall): Promise<ToolCallRow | undefined> {
  const { task, policy, context } = call
  const { timeoutMs: waitMs, log } = task
  const { abortSignal: signal } = context()
  const winner = await waitForUse(log, row, { waitMs, graceMs: policy.leaseMs, signal })
  if (winner !== undefined) return winner
  const use = await useOf(log, row, policy.leaseMs)
  if (use.kind !== 'running') return undefined
  throw inProgressError(row.toolName, waitMs, call.row.idempotencyKey ?? '')
}

/** The store of a log. */
export function approvalsOf(log: ToolCallLog): ApprovalStore {
  if (log.capabilities.approvals !== true || log.approvals === undefined) {
    throw approvalsUnsupported(log.name)
  }
  return log.approvals
}

/** Stores the question; a user of the AI SDK may have answered it already. */
async function ask(
  store: ApprovalStore,
  call: ApprovableCall,
  settings: ApprovalSettings,
  earlier: { readonly note: string | undefined; readonly answered: string | null | undefined },
): Promise<void> {
  const { definition, row, callKey, args, policy, task } = call
  const question = await approvalRequest({
    definition,
    settings,
    row,
    callKey,
    args,
    redact: policy.redact,
    maxBytes: task.maxOutputBytes,
    note: earlier.note,
  })
  const stored = await store.request(question)
  const approvalId = sdkApprovalOf(call.messages, row.toolCallId ?? '')
  const decidedBy = `ai-sdk:${approvalId}`
  // One answer of the user serves one execution.
  if (approvalId === undefined || stored.status !== 'pending' || earlier.answered === decidedBy)
    return
  await decide(store, stored, { approved: true, decidedBy })
}

/** Asks whoever is there; throws when nobody is. */
async function answerPending(
  store: ApprovalStore,
  pending: ApprovalRow,
  call: ApprovableCall,
  settings: ApprovalSettings,
): Promise<void> {
  const { definition, row, args, policy, context } = call
  const { toolCallId, attempt } = row
  const { id, status, usedBy } = pending
  if (pending.toolCallId !== toolCallId || pending.attempt !== attempt) {
    // The last call that asked is the one that people see.
    await store.update(id, { status, usedBy }, { toolCallId: toolCallId ?? '', attempt })
  }
  const { onApproval } = policy
  if (onApproval === undefined) throw approvalRequired(pending)
  let problem: string | undefined
  for (;;) {
    const question: ApprovalQuestion = {
      approval: pending,
      args,
      defaults: settings.defaults?.(args),
      context: context(),
      problem,
    }
    const decision = await onApproval(question)
    if (decision === undefined) throw approvalRequired(pending)
    if (decision.approved && decision.approvedArgs !== undefined) {
      const checked = await checkArguments(definition.schema, decision.approvedArgs)
      if (!checked.ok) {
        problem = checked.problem
        continue
      }
    }
    // When another decision was faster, that one counts.
    await decide(store, pending, decision)
    return
  }
}
