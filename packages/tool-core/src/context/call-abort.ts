/** The ways in which one call ends early, as one signal. Made when it is first read. */
export class CallAbort {
  readonly #sources: () => readonly (AbortSignal | undefined)[]
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined
  #reason: { readonly error: unknown } | undefined

  /** @param sources Signals from outside: the agent's, the run's. */
  constructor(sources: () => readonly (AbortSignal | undefined)[]) {
    this.#sources = sources
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
