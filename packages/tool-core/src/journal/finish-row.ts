import { setTimeout as sleep } from 'node:timers/promises'
import type { FinishPatch, ToolCallLog } from '../log/tool-call-log.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import { isThenable } from '../async/maybe-promise.ts'

const delaysMs = [20, 100, 500, 1000]

/** Finishes a row, trying again for about two seconds: the effect has happened, so losing its record is the last resort. */
export function finishRow(
  log: ToolCallLog,
  callToken: string,
  patch: FinishPatch,
): MaybePromise<'ok' | 'fenced'> {
  let first: MaybePromise<'ok' | 'fenced'>
  try {
    first = log.finish(callToken, patch)
  } catch (error) {
    return retry(log, callToken, patch, error)
  }
  return isThenable(first)
    ? first.then(undefined, (error: unknown) => retry(log, callToken, patch, error))
    : first
}

async function retry(
  log: ToolCallLog,
  callToken: string,
  patch: FinishPatch,
  firstError: unknown,
): Promise<'ok' | 'fenced'> {
  let lastError = firstError
  for (const delayMs of delaysMs) {
    await sleep(delayMs)
    try {
      const result = await log.finish(callToken, patch)
      // A try whose answer was lost may have finished the row: then the log holds what we wanted to write.
      return result === 'fenced' && (await isOurs(log, callToken, patch)) ? 'ok' : result
    } catch (error) {
      lastError = error
    }
  }
  throw lastError
}

async function isOurs(log: ToolCallLog, callToken: string, patch: FinishPatch): Promise<boolean> {
  const [row] = await log.list({ callToken, limit: 1 })
  return row?.finishedAtMs === patch.finishedAtMs && row.status === patch.status
}
