/** Admits at most `limit` callers at a time, in order. */
export interface Semaphore {
  /** Returns undefined when a slot is free. Each call needs one `leave`. */
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
      // The slot passes directly to the next waiting caller.
      const next = waiting.shift()
      if (next === undefined) inside -= 1
      else next()
    },
  }
}

/** Runs work in a slot of the semaphore. */
export async function inTurn<T>(slots: Semaphore, work: () => Promise<T>): Promise<T> {
  const turn = slots.enter()
  if (turn !== undefined) await turn
  try {
    return await work()
  } finally {
    slots.leave()
  }
}
