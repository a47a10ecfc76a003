import { performance } from 'node:perf_hooks'
import { fileLimits } from './file-limits.ts'

/**
 * Shares the event loop: synchronous file work of one turn is counted, and once it has used its milliseconds further
 * calls wait for the next turn. A single call never waits; a thousand at once do not hold up a timer.
 */
export interface TurnBudget {
  /** Undefined when there is time left in this turn, so that the usual call awaits nothing. */
  wait(): Promise<void> | undefined
  /** Counts the time since `startedAt` (of `performance.now()`). */
  spend(startedAt: number): void
}

export function createTurnBudget(maxTurnMs: number = fileLimits.maxTurnMs): TurnBudget {
  let spentMs = 0
  let turnIsWatched = false
  const waiting: (() => void)[] = []

  function nextTurn(): void {
    spentMs = 0
    turnIsWatched = false
    // Released one after the other: each is counted before the next, which waits again when the turn is used up.
    const released = waiting.splice(0)
    for (const [index, release] of released.entries()) {
      if (index >= releasedPerTurn) {
        waiting.unshift(...released.slice(index))
        break
      }
      release()
    }
    if (waiting.length > 0) watchTurn()
  }

  function watchTurn(): void {
    if (turnIsWatched) return
    turnIsWatched = true
    setImmediate(nextTurn)
  }

  return {
    wait() {
      if (spentMs < maxTurnMs) return undefined
      watchTurn()
      return new Promise((resolve) => {
        waiting.push(resolve)
      })
    },
    spend(startedAt) {
      spentMs += performance.now() - startedAt
      watchTurn()
    },
  }
}

const releasedPerTurn = 32
