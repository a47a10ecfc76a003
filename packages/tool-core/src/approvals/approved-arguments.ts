import { chain, rescue } from '../async/maybe-promise.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import { promptText, undecided } from './approval-request.ts'
import { returnApproval, useOf } from './approval-use.ts'
import type { ApprovedCall } from './approvable-call.ts'
import type { ApprovableCall } from './approvable-call.ts'
import { checkArguments } from './check-approved-arguments.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'

/**
 * Lets a call run that has taken an approval, with the approver's arguments when there are some. When they do not fit
 * the tool after all, which only its own schema can tell, the question is open again: undefined.
 */
export async function runWithApproval(
  store: ApprovalStore,
  row: ApprovalRow,
  call: ApprovableCall,
  settings: ApprovalSettings,
): Promise<ApprovedCall | undefined> {
  const { callToken } = call.row
  const giveBack = (): Promise<void> => returnApproval(store, row.id, callToken)
  // From the recorded start on the approval counts as used; until then it may have been taken away.
  const isHeld = (): MaybePromise<boolean> =>
    chain(store.list({ id: row.id, limit: 1 }), ([now]) => now?.usedBy === callToken)
  if (row.approvedArgsJson === null) return { args: call.args, isHeld, giveBack, forget: undefined }
  const checked = await checkArguments(call.definition.schema, JSON.parse(row.approvedArgsJson))
  if (!checked.ok) {
    await reopen(store, row, call, settings, checked.problem)
    return undefined
  }
  const used = { ...row, status: 'executed', usedBy: callToken } as const
  const forget = (): Promise<void> => forgetArguments(store, used, call.policy.onLogError)
  return { args: checked.args, isHeld, giveBack, forget }
}

/** Asks again, and says what was wrong with the answer. Nothing has run, so the decision has not been final. */
async function reopen(
  store: ApprovalStore,
  row: ApprovalRow,
  { args, row: { callToken, inputJson }, policy }: ApprovableCall,
  { prompt, ttlMs }: ApprovalSettings,
  problem: string,
): Promise<void> {
  const who = row.decidedBy === null ? '' : ` by ${row.decidedBy}`
  const note = `The arguments given${who} do not match the schema of the tool. ${problem}. Correct them and decide again.`
  const question = promptText(prompt, args, inputJson, policy.redact)
  await store.update(
    row.id,
    { status: 'executed', usedBy: callToken },
    {
      ...undecided,
      prompt: [policy.redact.hideIn(note), question].filter((text) => text !== undefined).join(' '),
      expiresAtMs: ttlMs === undefined ? null : Date.now() + ttlMs,
    },
  )
}

/** Removes the approver's arguments from an approval whose call has run. A failure changes nothing for the call. */
export async function forgetArguments(
  store: ApprovalStore,
  { id, status, usedBy, approvedArgsJson }: ApprovalRow,
  onLogError: (error: unknown) => void,
): Promise<void> {
  if (approvedArgsJson === null) return
  await rescue<unknown>(
    () => store.update(id, { status, usedBy }, { approvedArgsJson: null }),
    onLogError,
  )
}

/**
 * Removes what approvers gave to calls of this run that have run since, and whose process ended before it could do so
 * itself. Once for each process that goes on with the run.
 */
export async function forgetSpentArguments(
  store: ApprovalStore,
  { task, policy }: ApprovableCall,
): Promise<void> {
  const { log, runId } = task
  const swept = sweptRuns.get(log) ?? new Set()
  if (swept.has(runId)) return
  sweptRuns.set(log, swept.add(runId))
  const used = await store.list({ runId, status: 'executed', limit: Infinity })
  for (const row of used) {
    if (row.approvedArgsJson === null) continue
    const use = await useOf(log, row, policy.leaseMs)
    if (use.kind === 'spent') await forgetArguments(store, row, policy.onLogError)
  }
}

const sweptRuns = new WeakMap<ToolCallLog, Set<string>>()
