/** A call from its request to its answer: what can end it, and its end. */
export class RunningCall {
  /** Settled when the call has its row and its answer. */
  readonly ended: Promise<void>
  readonly #controller = new AbortController()
  readonly #end: () => void

  /** @param signals Each of them ends the call. */
  constructor(signals: readonly (AbortSignal | undefined)[]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    const stops = signals.map((signal) => signal && this.#follow(signal))
    this.#end = () => {
      for (const stop of stops) stop?.()
      resolve()
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  end(): void {
    this.#end()
  }

  // AbortSignal.any would cost a tenth of a short call.
  #follow(signal: AbortSignal): () => void {
    if (signal.aborted) this.abort(signal.reason)
    const follow = (): void => this.abort(signal.reason)
    signal.addEventListener('abort', follow, { once: true })
    return () => signal.removeEventListener('abort', follow)
  }
}
