import { isOwnerGone } from './process-owner.ts'
import type { FinishPatch } from './tool-call-log.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** True for a running row that no process will finish: its lease has ended, or its process is known to be dead. */
export function isOrphan(
  row: Pick<ToolCallRow, 'finishedAtMs' | 'leaseExpiresAtMs' | 'ownerId'>,
  nowMs: number,
): boolean {
  if (row.finishedAtMs !== null) return false
  if (row.leaseExpiresAtMs !== null && row.leaseExpiresAtMs <= nowMs) return true
  return row.ownerId !== null && isOwnerGone(row.ownerId)
}

/** How `recover` finishes an orphan: an error that says that the outcome of the call is unknown. */
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
