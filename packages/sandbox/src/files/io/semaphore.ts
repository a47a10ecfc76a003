/** Lets at most `limit` callers on at a time, in the order of asking. */
export interface Semaphore {
  /** Undefined when there is room at once. Every call is followed by one `leave`. */
  enter(): Promise<void> | undefined
  leave(): void
}

export function createSemaphore(limit: number): Semaphore {
  let inside = 0
  const waiting: (() => void)[] = []
  return {
    enter() {
      if (inside < limit) {
        inside += 1
        return undefined
      }
      return new Promise((resolve) => {
        waiting.push(resolve)
      })
    },
    leave() {
      // The place passes directly to who waits, so that nobody can slip in between.
      const next = waiting.shift()
      if (next === undefined) inside -= 1
      else next()
    },
  }
}

/** Does work among those let on. */
export async function inTurn<T>(slots: Semaphore, work: () => Promise<T>): Promise<T> {
  const turn = slots.enter()
  if (turn !== undefined) await turn
  try {
    return await work()
  } finally {
    slots.leave()
  }
}
