import { heldHere, ownerState } from './process-owner.ts'
import type { FinishPatch } from './tool-call-log.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/**
 * True for a running row that no process will finish. A process of this host that has ended never will, whatever the
 * lease says; one that lives may, however late it is: its event loop may be busy, the machine may have slept, or the clock
 * may have been set. Where this host cannot tell, on another host or without `/proc`, the lease decides.
 */
export function isOrphan(
  row: Pick<ToolCallRow, 'finishedAtMs' | 'leaseExpiresAtMs' | 'ownerId'> & {
    readonly callToken?: string
  },
  nowMs: number,
): boolean {
  if (row.finishedAtMs !== null) return false
  return isAbandoned(row.ownerId, row.callToken, row.leaseExpiresAtMs, nowMs)
}

/** True when what an owner holds under a token and a lease is held no longer. */
export function isAbandoned(
  ownerId: string | null,
  token: string | null | undefined,
  leaseExpiresAtMs: number | null,
  nowMs: number,
): boolean {
  const state = ownerId === null ? 'unknown' : ownerState(ownerId)
  if (state === 'gone') return true
  if (leaseExpiresAtMs === null || leaseExpiresAtMs > nowMs) return false
  if (state === 'here') return token === null || token === undefined || !heldHere.has(token)
  return state === 'unknown'
}

/** How `recover` finishes an orphan: an error that says that the outcome is unknown. */
export function outcomeUnknown(nowMs: number): FinishPatch {
  return {
    status: 'error',
    outputJson: null,
    errorJson: unknownOutcomeJson,
    effect: 'unknown',
    finishedAtMs: nowMs,
  }
}

const unknownOutcomeJson = JSON.stringify({
  name: 'SmithersError',
  code: 'TOOL_OUTCOME_UNKNOWN',
  message:
    'The process that ran this call ended before the outcome was recorded. Whether the call took effect is unknown.',
  effect: 'unknown',
})
