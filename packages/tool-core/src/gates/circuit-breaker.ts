import type { CircuitBreakerPolicy, CircuitState } from 'cockatiel'
import { SmithersError } from '../errors/smithers-error.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { BreakerSettings } from '../contract/gate-options.ts'

/** How a call that was let through ended; `'unused'` when it did not run after all. */
export type BreakerOutcome = 'success' | 'failure' | 'unused'

/** Tells the breaker how a call that it let through ended. */
export type SettleBreaker = (outcome: BreakerOutcome) => MaybePromise<void>

/**
 * Refuses calls of a tool after several in a row have failed, then lets single ones through until one succeeds.
 *
 * The library behind it is loaded with the first failure: while a tool works, its breaker is a test of one variable.
 */
export class CircuitBreaker {
  readonly #toolName: string
  readonly #settings: BreakerSettings
  #policy: CircuitBreakerPolicy | undefined
  #loading: Promise<CircuitBreakerPolicy> | undefined
  /** `CircuitState.Closed` of the library, known once it is loaded. */
  #closed: CircuitState | undefined
  #failures = 0
  #openedAtMs = 0

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
    const policy = this.#policy
    if (policy === undefined || policy.state === this.#closed) return this.#settleClosed
    return this.#enterHalfOpen(policy)
  }

  readonly #settleClosed: SettleBreaker = (outcome) => {
    if (outcome === 'failure') return this.#recordFailure()
    if (outcome === 'success' && this.#failures > 0) return this.#recordSuccess()
    return undefined
  }

  async #recordFailure(): Promise<void> {
    this.#failures += 1
    const policy = await this.#load()
    // The failure of a call from before the breaker opened says nothing about the tool after the cool-down.
    if (policy.state !== this.#closed) return
    await policy.execute(() => Promise.reject(new CallFailed())).catch(ignore)
  }

  async #recordSuccess(): Promise<void> {
    this.#failures = 0
    const policy = await this.#load()
    if (policy.state === this.#closed) await policy.execute(ignore)
  }

  /** Holds the policy's trial open until the call that it lets through has ended. */
  #enterHalfOpen(policy: CircuitBreakerPolicy): Promise<SettleBreaker> {
    return new Promise((admit, refuse) => {
      const trial = policy.execute(
        () =>
          new Promise<void>((succeed, fail) => {
            admit((outcome) => {
              if (outcome === 'success') succeed()
              // A trial that did not run has not shown that the tool works.
              else fail(new CallFailed())
            })
          }),
      )
      trial.catch((error: unknown) => {
        if (!(error instanceof CallFailed)) refuse(this.#openError())
      })
    })
  }

  #load(): Promise<CircuitBreakerPolicy> {
    this.#loading ??= this.#create()
    return this.#loading
  }

  async #create(): Promise<CircuitBreakerPolicy> {
    const { circuitBreaker, CircuitState, ConsecutiveBreaker, handleType } =
      await import('cockatiel')
    const { threshold, cooldownMs } = this.#settings
    const policy = circuitBreaker(handleType(CallFailed), {
      halfOpenAfter: cooldownMs,
      breaker: new ConsecutiveBreaker(threshold),
    })
    policy.onBreak(() => {
      this.#openedAtMs = Date.now()
    })
    policy.onReset(() => {
      this.#failures = 0
    })
    this.#closed = CircuitState.Closed
    this.#policy = policy
    return policy
  }

  #openError(): SmithersError {
    const { threshold, cooldownMs } = this.#settings
    const waitMs = Math.max(0, this.#openedAtMs + cooldownMs - Date.now())
    return new SmithersError(
      'TOOL_CIRCUIT_OPEN',
      `Tool "${this.#toolName}" was not run: its circuit breaker is open, because its last ${threshold} calls failed. ` +
        `It is tried again in ${Math.ceil(waitMs / 1000)} s. Do something else until then, or answer without it.`,
      {
        details: { toolName: this.#toolName, threshold, cooldownMs, retryInMs: waitMs },
        effect: 'none',
      },
    )
  }
}

class CallFailed extends Error {}

function ignore(): void {}
