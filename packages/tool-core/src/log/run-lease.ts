import { isAbandoned } from './orphan.ts'
import type { RunRow } from './run-store.ts'

/** True when no process holds a run: it has no lease, or its holder has ended or, where that cannot be told, is late. */
export function isRunFree(
  {
    leaseToken,
    leaseExpiresAtMs,
    ownerId,
  }: Pick<RunRow, 'leaseToken' | 'leaseExpiresAtMs' | 'ownerId'>,
  nowMs: number,
): boolean {
  return leaseToken === null || isAbandoned(ownerId, leaseToken, leaseExpiresAtMs, nowMs)
}
