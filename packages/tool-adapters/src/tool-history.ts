import type { ToolCallLog, ToolCallRow } from '@smithers/tool-core'

/** One call of a run, as its log holds it: redacted, and cut to the run's `maxOutputBytes`. */
export interface ToolHistoryEntry {
  readonly toolName: string
  readonly toolCallId: string | null
  readonly attempt: number
  readonly seq: number
  readonly input: unknown
  readonly status: ToolCallRow['status']
  readonly output: unknown
  readonly error: unknown
  /** The output was that of an equal call, which the tool's cache had. */
  readonly fromCache: boolean
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
}

/** Every call of a run, oldest first. */
export async function toolHistory(
  log: ToolCallLog,
  runId: string,
): Promise<readonly ToolHistoryEntry[]> {
  const rows = await log.list({ runId, limit: Infinity })
  return rows.map((row) => ({
    toolName: row.toolName,
    toolCallId: row.toolCallId,
    attempt: row.attempt,
    seq: row.seq,
    input: parsed(row.inputJson),
    status: row.status,
    output: parsed(row.outputJson),
    error: parsed(row.errorJson),
    fromCache: row.fromCache ?? false,
    startedAtMs: row.startedAtMs,
    finishedAtMs: row.finishedAtMs,
  }))
}

function parsed(json: string | null): unknown {
  return json === null ? undefined : JSON.parse(json)
}
