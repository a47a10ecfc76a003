import { withTimeout } from './with-timeout.ts'

/** The ways in which one call ends early, as one signal. Made when it is first read. */
export class CallAbort {
  readonly #sources: () => readonly (AbortSignal | undefined)[]
  readonly #timeoutMs: number | undefined
  #isLate = false
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined
  #reason: { readonly error: unknown } | undefined

  /**
   * @param sources Signals from outside: the agent's, the run's.
   * @param timeoutMs How long the call may wait before it runs. @default until it is aborted
   */
  constructor(sources: () => readonly (AbortSignal | undefined)[], timeoutMs?: number) {
    this.#sources = sources
    this.#timeoutMs = timeoutMs
  }

  /** Waits for something that must be there before the call runs; not longer than the call may take. */
  race<Value>(work: PromiseLike<Value>): Promise<Value> {
    return withTimeout(work, {
      timeoutMs: this.#timeoutMs,
      timedOut: (limit) => {
        this.#isLate = true
        return new WaitTimeout(limit)
      },
      signal: this.signal,
    })
  }

  /** Waits for work that keeps its own time, until the call is aborted. */
  unlessAborted<Value>(work: PromiseLike<Value>): Promise<Value> {
    return withTimeout(work, {
      timeoutMs: undefined,
      timedOut: () => undefined,
      signal: this.signal,
    })
  }

  /** Waits for the log to take what has happened; once the call is aborted or late, only a second more. */
  lastly<Value>(
    work: PromiseLike<Value>,
    longestMs: number,
    timedOut: () => unknown,
  ): Promise<Value> {
    const timeoutMs = this.#isLate ? Math.min(graceMs, longestMs) : longestMs
    const { signal } = this
    return withTimeout(work, { timeoutMs, timedOut, signal, aborted: timedOut, graceMs })
  }

  /** Aborts the call itself: its time is over, or another worker has taken it over. */
  abort(error: unknown): void {
    this.#reason ??= { error }
    this.#controller?.abort(error)
  }

  /** What the call itself was aborted with; undefined when it was not. */
  get reason(): unknown {
    return this.#reason?.error
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.error)
      const given = this.#sources().filter((source) => source !== undefined)
      this.#signal = AbortSignal.any([this.#controller.signal, ...given])
    }
    return this.#signal
  }
}

/** How long what has happened may take to be recorded after an abort, in milliseconds. */
const graceMs = 1000

/** A call had to wait for longer than it may take, so it did not run. */
export class WaitTimeout extends Error {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(`it waited for ${timeoutMs} ms before it could begin`)
    this.timeoutMs = timeoutMs
  }
}
