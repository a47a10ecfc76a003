import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { ApprovalDecision } from '../contract/on-approval.ts'

/** Records a decision; false when the approval is no longer pending. */
export async function decide(
  store: ApprovalStore,
  row: ApprovalRow,
  { approved, approvedArgs, decidedBy, comment }: ApprovalDecision,
): Promise<boolean> {
  const { id, usedBy } = row
  return store.update(
    id,
    { status: 'pending', usedBy },
    {
      status: approved ? 'approved' : 'rejected',
      decidedAtMs: Date.now(),
      decidedBy: decidedBy ?? null,
      comment: comment ?? null,
      approvedArgsJson: approvedArgs === undefined ? null : JSON.stringify(approvedArgs),
    },
  )
}

/** Expires a pending approval whose time is over; returns it as it now is. */
export async function expireIfDue(store: ApprovalStore, row: ApprovalRow): Promise<ApprovalRow> {
  const { id, status, usedBy, expiresAtMs } = row
  const nowMs = Date.now()
  if (status !== 'pending' || expiresAtMs === null || expiresAtMs > nowMs) return row
  const expired = { status: 'expired', decidedAtMs: nowMs } as const
  if (await store.update(id, { status, usedBy }, expired)) return { ...row, ...expired }
  const [current] = await store.list({ id, limit: 1 })
  return current ?? row
}
