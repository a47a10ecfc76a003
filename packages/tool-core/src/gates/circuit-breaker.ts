import type { MaybePromise } from '../async/maybe-promise.ts'
import type { BreakerSettings } from '../contract/gate-options.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** How a call that was let through ended; `'unused'` when it did not run after all. */
export type BreakerOutcome = 'success' | 'failure' | 'unused'

/** Tells the breaker, once, how a call that it let through ended. */
export type SettleBreaker = (outcome: BreakerOutcome) => void

/** Refuses calls of a tool after several in a row have failed, then lets single ones through until one succeeds. */
export class CircuitBreaker {
  readonly #toolName: string
  readonly #settings: BreakerSettings
  #failures = 0
  /** Milliseconds since the epoch; undefined while the breaker is closed. */
  #openedAtMs: number | undefined
  /** Ends with the call that tries whether the tool works again. */
  #trial: Promise<void> | undefined

  constructor(toolName: string, settings: BreakerSettings) {
    this.#toolName = toolName
    this.#settings = settings
  }

  /**
   * Lets a call through.
   *
   * @throws SmithersError `TOOL_CIRCUIT_OPEN`, at once while the breaker is open; while one call tries whether the tool
   *   works again, after that call.
   */
  enter(): MaybePromise<SettleBreaker> {
    if (this.#openedAtMs === undefined) return this.#settleClosed
    if (this.#trial !== undefined) return this.#trial.then(() => this.#enterAfterTrial())
    if (this.#remainingMs(this.#openedAtMs) > 0) throw this.#openError()
    return this.#beginTrial()
  }

  /** The trial decides for every call that waited for it; they do not try one after another. */
  #enterAfterTrial(): SettleBreaker {
    if (this.#openedAtMs !== undefined) throw this.#openError()
    return this.#settleClosed
  }

  readonly #settleClosed: SettleBreaker = (outcome) => {
    // A call from before the breaker opened says nothing about the tool after the cool-down.
    if (outcome === 'unused' || this.#openedAtMs !== undefined) return
    this.#failures = outcome === 'success' ? 0 : this.#failures + 1
    if (this.#failures >= this.#settings.threshold) this.#open()
  }

  #beginTrial(): SettleBreaker {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#trial = promise
    return (outcome) => {
      if (this.#trial !== promise) return
      this.#trial = undefined
      // A trial that did not run has not shown that the tool works.
      if (outcome === 'success') this.#close()
      else this.#open()
      resolve()
    }
  }

  #open(): void {
    this.#openedAtMs = Date.now()
  }

  #close(): void {
    this.#openedAtMs = undefined
    this.#failures = 0
  }

  #remainingMs(openedAtMs: number): number {
    return Math.max(0, openedAtMs + this.#settings.cooldownMs - Date.now())
  }

  #openError(): SmithersError {
    const { threshold, cooldownMs, scope } = this.#settings
    const retryInMs = this.#openedAtMs === undefined ? 0 : this.#remainingMs(this.#openedAtMs)
    return new SmithersError(
      'TOOL_CIRCUIT_OPEN',
      `Tool "${this.#toolName}" was not run: its circuit breaker is open, because its last ${threshold} calls failed. ` +
        (retryInMs === Infinity
          ? `It stays open for the rest of the ${scope === 'run' ? 'run' : 'attempt'}. Answer without it.`
          : `It is tried again in ${Math.ceil(retryInMs / 1000)} s. Do something else until then, or answer without it.`),
      {
        details: { toolName: this.#toolName, threshold, cooldownMs, retryInMs },
        effect: 'none',
      },
    )
  }
}
