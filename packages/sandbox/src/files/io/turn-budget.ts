import { fileLimits } from '../file-limits.ts'

/**
 * Shares the event loop: synchronous file work of one turn is counted, and once it has used its milliseconds further
 * work waits for the next turn. A single call never waits; a thousand at once do not hold up a timer.
 */
export interface TurnBudget {
  /** Does the work at once when there is time left in this turn, else in a later one, in the order of asking. */
  run<T>(work: () => T): T | Promise<T>
}

export function createTurnBudget(
  maxTurnMs: number = fileLimits.maxTurnMs,
  now: () => number = () => performance.now(),
): TurnBudget {
  let spentMs = 0
  let isWatched = false
  let waiting: (() => void)[] = []

  function timed<T>(work: () => T): T {
    const startedAt = now()
    try {
      return work()
    } finally {
      spentMs += now() - startedAt
      watchTurn()
    }
  }

  function hasTime(): boolean {
    return spentMs < maxTurnMs
  }

  function watchTurn(): void {
    if (isWatched) return
    isWatched = true
    setImmediate(nextTurn)
  }

  function nextTurn(): void {
    spentMs = 0
    isWatched = false
    let done = 0
    for (const work of waiting) {
      if (!hasTime()) break
      work()
      done += 1
    }
    waiting = waiting.slice(done)
    if (waiting.length > 0) watchTurn()
  }

  return {
    run(work) {
      if (hasTime()) return timed(work)
      watchTurn()
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(timed(work))
          } catch (error) {
            reject(error)
          }
        })
      })
    },
  }
}
