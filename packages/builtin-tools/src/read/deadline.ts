/** The longest that some work may take. */
export interface Deadline {
  /** Aborted when the time is over, and when the work is no longer wanted. */
  readonly signal: AbortSignal
  /** What the signal is aborted with when the time is over. */
  readonly late: Error
  /** The work is done. */
  clear(): void
}

/**
 * Begins the time. `AbortSignal.timeout` cannot be ended: until its time is over it holds every signal made with it, and
 * a server that reads a file thousands of times has each of them in memory.
 */
export function beginDeadline(timeoutMs: number, wanted: AbortSignal): Deadline {
  const ending = new AbortController()
  const late = new DOMException('The time is over.', 'TimeoutError')
  const timer = setTimeout(() => ending.abort(late), timeoutMs).unref()
  return {
    signal: AbortSignal.any([wanted, ending.signal]),
    late,
    clear: () => clearTimeout(timer),
  }
}
