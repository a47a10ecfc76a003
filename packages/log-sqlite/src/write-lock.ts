import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy, unavailable } from './sqlite-failure.ts'

/**
 * Runs a write, and when another connection holds the lock, runs it again after a pause of random length until
 * `maxWaitMs` have passed. The answer is a promise only when it had to wait.
 */
export function whenUnlocked<T>(write: () => T, maxWaitMs: number): T | Promise<T> {
  try {
    return write()
  } catch (error) {
    if (!isBusy(error)) throw error
    return retry(write, performance.now() + maxWaitMs, maxWaitMs)
  }
}

async function retry<T>(write: () => T, deadline: number, maxWaitMs: number): Promise<T> {
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Random, so that processes that collided do not collide again in step.
    await sleep(1 + Math.random() * pauseMs)
    try {
      return write()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= deadline) {
        throw unavailable(
          'busy',
          `The tool-call log stayed locked by other processes for ${maxWaitMs} ms. Try again, or use fewer processes on one file.`,
          { cause: error },
        )
      }
    }
  }
}

const longestPauseMs = 100
