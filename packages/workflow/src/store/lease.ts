import { isOwnerGone } from '@smithers/tool-core/log'
import type { RunRow } from './run-store.ts'

/** True when nobody holds a run: no lease, an ended one, or one of a process that is known to be dead. */
export function isUnheld(
  run: Pick<RunRow, 'leaseToken' | 'leaseExpiresAtMs' | 'ownerId'>,
  nowMs: number,
): boolean {
  if (run.leaseToken === null) return true
  if (run.leaseExpiresAtMs !== null && run.leaseExpiresAtMs <= nowMs) return true
  return run.ownerId !== null && isOwnerGone(run.ownerId)
}
