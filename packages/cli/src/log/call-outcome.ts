import { isOrphan } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { isRefusal } from './refusal.ts'

// The call ended without the tool's own answer.
const cutOff: ReadonlySet<string> = new Set(['TOOL_INTERRUPTED', 'TOOL_TIMEOUT', 'TOOL_ABORTED'])

/** The outcome of a logged call, in one word. */
type CallOutcome = 'ok' | 'replayed' | 'refused' | 'failed' | 'running' | 'unknown'

/** An outcome, with the error's code if there is one. */
export interface OutcomeOfCall {
  readonly outcome: CallOutcome
  readonly code: string | null
}

/**
 * The outcome of a row. A row that was never finished is `running` while its process lives and `unknown` afterwards. A call
 * that was cut off is `unknown` too: `failed` would say that its effect did not happen.
 */
export function callOutcome(row: ToolCallRow, nowMs: number): OutcomeOfCall {
  if (row.status === 'started') {
    return { outcome: isOrphan(row, nowMs) ? 'unknown' : 'running', code: null }
  }
  if (row.status === 'success') {
    return { outcome: row.replayOf === null ? 'ok' : 'replayed', code: null }
  }
  const code = errorFields(row).code ?? 'ERROR'
  if (row.effect === 'unknown' && cutOff.has(code)) return { outcome: 'unknown', code }
  if (code === 'TOOL_OUTCOME_UNKNOWN') return { outcome: 'unknown', code }
  // A command that ran without a host that waits for approval.
  const ran = code === 'TOOL_APPROVAL_REQUIRED' && row.effect === 'unknown'
  return { outcome: isRefusal(code) && !ran ? 'refused' : 'failed', code }
}

/** The code and the message of a row's error, if any. */
export function errorFields(row: ToolCallRow): { code?: string; message?: string } {
  const error = parsedJson(row.errorJson)
  if (typeof error !== 'object' || error === null) return {}
  const { code, message } = error as Record<string, unknown>
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }
}

/** The value of a JSON column. Text that is not JSON is returned as it is, since another program may have written it. */
export function parsedJson(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
