import { nowOf, type ToolCallLog } from '@smithers/tool-core/log'

/**
 * Marks the calls of servers that are gone as unknown: their processes ended before the calls did. Other runs of the log
 * are left to whoever resumes them.
 */
export async function recoverCrashed(log: ToolCallLog, runId: string): Promise<number> {
  const started = await log.list({ status: 'started', limit: mostStarted })
  const runs = new Set(
    started.map((row) => row.runId).filter((id) => id === runId || id.startsWith('mcp-')),
  )
  let recovered = 0
  for (const each of runs) recovered += await log.recover({ runId: each, nowMs: nowOf(log) })
  return recovered
}

const mostStarted = 10_000
