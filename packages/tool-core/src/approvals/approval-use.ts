import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { nowOf } from '../log/log-clock.ts'
import { isOrphan } from '../log/orphan.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import { type ToolCallRow, usesApproval } from '../log/tool-call-row.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import { chain, rescue } from '../async/maybe-promise.ts'

/** Whether a call has used an approval. The start rows in the log say so; an approval serves one execution. */
export type ApprovalUse =
  | { readonly kind: 'unused' }
  /** A call runs with it now. */
  | { readonly kind: 'running' }
  /** A call ran with it: another execution needs another approval. */
  | { readonly kind: 'used'; readonly outcome: string }

/** Reads from the log whether a call has used an approval. */
export function approvalUse(log: ToolCallLog, approvalId: string): MaybePromise<ApprovalUse> {
  return chain(log.list({ approvalId, limit: Infinity }), (rows): ApprovalUse => {
    const user = rows.find(usesApproval)
    if (user === undefined) return { kind: 'unused' }
    if (user.finishedAtMs === null && !isOrphan(user, nowOf(log))) return { kind: 'running' }
    return { kind: 'used', outcome: outcomeOf(user) }
  })
}

function outcomeOf({ status, effect }: ToolCallRow): string {
  if (status === 'success') return 'it succeeded'
  if (status === 'started' || effect === 'unknown') return 'its outcome is unknown'
  return 'it failed after it had taken effect'
}

/**
 * Marks an approval as used and erases the approver's arguments and the preview. A failure is reported and changes
 * nothing for the call: the start row already keeps the approval from being used again.
 */
export async function closeApproval(
  store: ApprovalStore,
  id: string,
  onLogError: (error: unknown) => void,
): Promise<void> {
  const closed = { status: 'used', approvedArgsJson: null, previewJson: null } as const
  await rescue<unknown>(() => store.update(id, 'approved', closed), onLogError)
}

/** Erases the preview of an approval that its call did not use up. A failure is reported and changes nothing. */
export async function erasePreview(
  store: ApprovalStore,
  { id, previewJson }: ApprovalRow,
  onLogError: (error: unknown) => void,
): Promise<void> {
  if (previewJson === null) return
  await rescue<unknown>(() => store.update(id, 'approved', { previewJson: null }), onLogError)
}

/** Attempts that have closed what earlier processes of their run left open. */
const swept = new WeakSet<object>()

/** Closes the used approvals of a run that an earlier process could not close, because it ended first. */
export async function closeUsedApprovals(
  store: ApprovalStore,
  { log, task }: { readonly log: ToolCallLog; readonly task: { readonly runId: string } },
  onLogError: (error: unknown) => void,
): Promise<void> {
  if (swept.has(task)) return
  swept.add(task)
  const { runId } = task
  for (const { id } of await store.list({ runId, status: 'approved', limit: Infinity })) {
    const use = await approvalUse(log, id)
    if (use.kind === 'used') await closeApproval(store, id, onLogError)
  }
}

/** The approvals among these that no call runs with or has run with, and the pending ones. */
export async function unusedApprovals(
  log: ToolCallLog,
  approvals: readonly ApprovalRow[],
): Promise<readonly ApprovalRow[]> {
  const uses = await Promise.all(
    approvals.map(async ({ id, status }) =>
      status === 'approved' ? approvalUse(log, id) : undefined,
    ),
  )
  return approvals.filter((_, index) => (uses[index]?.kind ?? 'unused') === 'unused')
}
