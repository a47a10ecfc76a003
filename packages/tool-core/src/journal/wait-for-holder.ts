import { setTimeout as sleep } from 'node:timers/promises'
import { nowOf } from '../log/log-clock.ts'
import { isOrphan, outcomeUnknown } from '../log/orphan.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'

/**
 * Waits until the call that holds a key has finished, and returns its row; undefined when it has not in time. A holder
 * whose process is dead, or whose lease has ended, is finished here with an unknown outcome: its own finish, should it
 * still come, changes nothing.
 */
export async function waitForHolder(
  log: ToolCallLog,
  holder: ToolCallRow,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
): Promise<ToolCallRow | undefined> {
  // The wall clock may be set back meanwhile.
  const deadline = performance.now() + waitMs
  let row = holder
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    if (row.finishedAtMs !== null) return row
    const nowMs = nowOf(log)
    if (isOrphan(row, nowMs)) await log.finish(row.callToken, outcomeUnknown(nowMs))
    else if (performance.now() >= deadline) return undefined
    else
      await sleep(
        delayMs * (0.5 + Math.random()),
        undefined,
        signal === undefined ? {} : { signal },
      )
    const [now] = await log.list({ callToken: row.callToken, limit: 1 })
    // A pruned row had finished.
    if (now === undefined)
      return { ...row, status: 'error', effect: 'unknown', finishedAtMs: nowOf(log) }
    row = now
  }
}

const firstDelayMs = 4
const longestDelayMs = 250
