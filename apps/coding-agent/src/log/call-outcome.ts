import { isOrphan } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { isRefusal } from './refusal.ts'

/** What became of a logged call, in one word. */
type CallOutcome = 'ok' | 'replayed' | 'refused' | 'failed' | 'running' | 'unknown'

/** An outcome, and the code of the error if there is one. */
export interface CallVerdict {
  readonly outcome: CallOutcome
  readonly code: string | null
}

/**
 * Reads the outcome off a row. A row that was started and never finished is `running` while its process lives, and
 * `unknown` afterwards: the effect may have happened.
 */
export function callVerdict(row: ToolCallRow, nowMs: number): CallVerdict {
  if (row.status === 'started') {
    return { outcome: isOrphan(row, nowMs) ? 'unknown' : 'running', code: null }
  }
  if (row.status === 'success') {
    return { outcome: row.replayOf === null ? 'ok' : 'replayed', code: null }
  }
  const code = errorFields(row).code ?? 'ERROR'
  if (code === 'TOOL_OUTCOME_UNKNOWN') return { outcome: 'unknown', code }
  return { outcome: isRefusal(code) ? 'refused' : 'failed', code }
}

/** Code and message of a row's error, as far as it has them. */
export function errorFields(row: ToolCallRow): { code?: string; message?: string } {
  const error = parsedJson(row.errorJson)
  if (typeof error !== 'object' || error === null) return {}
  const { code, message } = error as Record<string, unknown>
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }
}

/** A JSON column's value; a text that is not JSON stands for itself, since a foreign table may hold one. */
export function parsedJson(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
