import { codeOfHead, isOrphan } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import type { CallOutcome } from '../api/calls.ts'

/** How a call ended, as far as its row tells. The texts of the row may be cut. */
export function outcomeOf(row: ToolCallRow, nowMs: number): CallOutcome {
  if (row.finishedAtMs === null) return isOrphan(row, nowMs) ? 'unknown' : 'running'
  if (row.status === 'success') {
    if (row.fromCache === true) return 'cached'
    return row.replayOf === null ? 'ok' : 'replayed'
  }
  return failureOutcome(codeOfHead(row.errorJson), row.effect)
}

/** How a call ended that has an error with this code and effect. */
export function failureOutcome(code: string | null, effect: ToolCallRow['effect']): CallOutcome {
  if (code === 'TOOL_APPROVAL_REQUIRED') return 'waiting'
  if (code === 'TOOL_CALL_FENCED' && effect !== 'none') return 'fenced'
  if (effect === 'none') return code !== null && refusals.has(code) ? 'refused' : 'failed'
  // A command that exited with 1 may have changed something, too, but the record of its end is there.
  return code === 'TOOL_OUTCOME_UNKNOWN' ? 'unknown' : 'failed'
}

/** With these codes and no effect, a guard stopped the call. */
const refusals: ReadonlySet<string> = new Set([
  'INVALID_INPUT',
  'TOOL_INPUT_NOT_CANONICAL',
  'TOOL_NOT_FOUND',
  'TOOL_PATH_INVALID',
  'TOOL_PATH_ESCAPE',
  'TOOL_PATH_DENIED',
  'TOOL_CONTENT_TOO_LARGE',
  'TOOL_PATCH_TOO_LARGE',
  'TOOL_NETWORK_DISABLED',
  'TOOL_GIT_REMOTE_DISABLED',
  'TOOL_ISOLATION_UNAVAILABLE',
  'TOOL_ISOLATION_LOST',
  'TOOL_ROOT_CHANGED',
  'TOOL_CLOSED',
  'TOOL_LIMIT_REACHED',
  'TOOL_CIRCUIT_OPEN',
  'TOOL_APPROVAL_REJECTED',
  'TOOL_CALL_IN_PROGRESS',
  'TOOL_CALL_BLOCKED',
  'TOOL_CALL_FENCED',
  'TOOL_OUTCOME_UNKNOWN',
  'TOOL_INTERRUPTED',
  'TOOL_ABORTED',
  'TOOL_LOG_UNAVAILABLE',
])
