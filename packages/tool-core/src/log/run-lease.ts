import { isOwnerGone } from './process-owner.ts'
import type { RunRow } from './run-store.ts'

/** True when a run has no live holder: no lease, an expired one, or one of a dead process. */
export function isRunFree(
  run: Pick<RunRow, 'leaseToken' | 'leaseExpiresAtMs' | 'ownerId'>,
  nowMs: number,
): boolean {
  if (run.leaseToken === null) return true
  if (run.leaseExpiresAtMs !== null && run.leaseExpiresAtMs <= nowMs) return true
  return run.ownerId !== null && isOwnerGone(run.ownerId)
}
