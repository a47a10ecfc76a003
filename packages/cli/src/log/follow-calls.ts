import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCallLog, ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'
import { allRows } from './all-rows.ts'

/** How often the log is read, in milliseconds. */
const pollMs = 250

/** Rows are looked for this long before the newest one: a clock of another process may be behind. Milliseconds. */
const overlapMs = 5_000

/**
 * Calls as they end, and those that have started and not ended, each once in either state, until the signal aborts. Looks
 * at the log again and again, so that it works with every log and across processes, and reads what can have changed: the
 * newest calls, and of older ones those that had not ended.
 *
 * @param since Calls that started before this are left out. Milliseconds since the epoch.
 */
export async function* followCalls(
  log: Pick<ToolCallLog, 'list' | 'version'>,
  query: Omit<ToolCallQuery, 'limit' | 'after' | 'order' | 'startedFromMs'>,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<ToolCallRow> {
  const { status: wanted, ...places } = query
  const seen = new Map<string, SeenCall>()
  let newestMs = since
  let version: string | undefined
  while (!signal.aborted) {
    const before = version
    version = await log.version?.()
    if (version === undefined || version !== before) {
      const fromMs = Math.max(since, newestMs - overlapMs)
      for await (const row of changedRows(log, places, { seen, fromMs })) {
        const { callToken, status, startedAtMs } = row
        if (seen.get(callToken)?.status === status) continue
        seen.set(callToken, { status, startedAtMs })
        newestMs = Math.max(newestMs, startedAtMs)
        if (wanted === undefined || status === wanted) yield row
      }
      for (const [callToken, { status, startedAtMs }] of seen) {
        if (status !== 'started' && startedAtMs < fromMs) seen.delete(callToken)
      }
    }
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}

interface SeenCall {
  readonly status: ToolCallRow['status']
  readonly startedAtMs: number
}

/** The calls that had not ended and started before a moment, one by one, and then all that started since. */
async function* changedRows(
  log: Pick<ToolCallLog, 'list' | 'version'>,
  query: ToolCallQuery,
  { seen, fromMs }: { readonly seen: Map<string, SeenCall>; readonly fromMs: number },
): AsyncGenerator<ToolCallRow> {
  for (const [callToken, { status, startedAtMs }] of seen) {
    if (status !== 'started' || startedAtMs >= fromMs) continue
    const [row] = await log.list({ ...query, callToken, limit: 1 })
    if (row === undefined) seen.delete(callToken)
    else yield row
  }
  yield* allRows(log, { ...query, startedFromMs: fromMs })
}
