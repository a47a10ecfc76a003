import type { ApprovalDecision } from '../contract/on-approval.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'

/**
 * Records a decision; false when the approval is no longer pending.
 *
 * @param nowMs By the clock of the log.
 */
export async function recordDecision(
  store: ApprovalStore,
  { id }: ApprovalRow,
  { approved, approvedArgs, decidedBy, comment }: ApprovalDecision,
  nowMs: number,
): Promise<boolean> {
  return store.update(id, 'pending', {
    status: approved ? 'approved' : 'rejected',
    decidedAtMs: nowMs,
    decidedBy: decidedBy ?? null,
    comment: comment ?? null,
    approvedArgsJson: approvedArgs === undefined ? null : JSON.stringify(approvedArgs),
    // Kept until the call has run; a rejected call never does.
    ...(!approved && { previewJson: null }),
  })
}

/**
 * Expires a pending approval whose time is over; returns it as it now is.
 *
 * @param nowMs By the clock of the log.
 */
export async function expireIfDue(
  store: ApprovalStore,
  row: ApprovalRow,
  nowMs: number,
): Promise<ApprovalRow> {
  const { id, status, expiresAtMs } = row
  if (status !== 'pending' || expiresAtMs === null || expiresAtMs > nowMs) return row
  const expired = { status: 'expired', decidedAtMs: nowMs, previewJson: null } as const
  if (await store.update(id, 'pending', expired)) return { ...row, ...expired }
  const [current] = await store.list({ id, limit: 1 })
  return current ?? row
}
