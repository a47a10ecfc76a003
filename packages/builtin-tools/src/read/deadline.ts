/** The longest that some work may take. */
export interface Deadline {
  /** Aborted when the time is over, and when the work is no longer wanted. */
  readonly signal: AbortSignal
  /** Whether an error is what the signal is aborted with when the time is over. */
  isLate(error: unknown): boolean
  /** The work is done. */
  clear(): void
}

/**
 * Begins the time. `AbortSignal.timeout` cannot be ended: until its time is over it holds every signal made with it, and
 * a server that reads a file thousands of times has each of them in memory.
 */
export function beginDeadline(timeoutMs: number, wanted: AbortSignal): Deadline {
  const ending = new AbortController()
  // Made when it is needed: an error notes where it was made, which costs more than the rest of a deadline.
  let late: Error | undefined
  const timer = setTimeout(() => {
    late = new DOMException('The time is over.', 'TimeoutError')
    ending.abort(late)
  }, timeoutMs).unref()
  return {
    signal: AbortSignal.any([wanted, ending.signal]),
    isLate: (error) => late !== undefined && error === late,
    clear: () => clearTimeout(timer),
  }
}
