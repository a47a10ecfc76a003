import { fileLimits } from '../file-limits.ts'

/**
 * Limits the synchronous file work in one turn of the event loop; work over the limit waits for the next turn. A single
 * call never waits, and a thousand calls at once do not delay timers.
 */
export interface TurnBudget {
  /** Runs work now when time is left in this turn, else in a later turn, in order. */
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
