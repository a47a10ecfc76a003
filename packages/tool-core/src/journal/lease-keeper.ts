import { isThenable, settled, type Steps } from '../async/maybe-promise.ts'
import { type LeaseMoment, leaseMoment, passedSince } from '../log/lease-timer.ts'
import { nowOf } from '../log/log-clock.ts'
import { heldHere } from '../log/process-owner.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'

/** The keepers with running calls, which are renewed even when nothing else refers to them. */
const holding = new Set<LeaseKeeper>()

interface Lease {
  /** When the last lease that was confirmed was asked for, by the clock that only goes forward. */
  since: number
  readonly onLost: () => void
  /** Runs when the lease ends before the next renewal. */
  end: NodeJS.Timeout | undefined
}

/**
 * Renews the leases of running calls, so that no other worker takes them for orphans, and ends the calls whose lease has
 * ended without an answer of the log.
 */
export class LeaseKeeper {
  readonly #log: ToolCallLog
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  readonly #leases = new Map<string, Lease>()
  #timer: NodeJS.Timeout | undefined
  #lastTick: LeaseMoment | undefined

  constructor(log: ToolCallLog, leaseMs: number, onError: (error: unknown) => void) {
    this.#log = log
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  /**
   * Renews the lease of a call until it is released; false when it ended before its start was answered, and another worker
   * has finished its row or the log does not say.
   *
   * @param since When the start was sent, by `performance.now()`.
   * @param onLost Called when another worker has finished the row, or may have.
   */
  *hold(callToken: string, since: number, onLost: () => void): Steps<boolean> {
    const lease: Lease = { since, onLost, end: undefined }
    this.#leases.set(callToken, lease)
    heldHere.add(callToken)
    holding.add(this)
    this.#timer ??= this.#startTimer()
    if (performance.now() - since < this.#leaseMs) return true
    try {
      const sentAt = performance.now()
      if (!(yield* settled(this.#ask(callToken)))) return false
      lease.since = sentAt
      return true
    } catch (error) {
      this.#onError(error)
      return false
    }
  }

  release(callToken: string): void {
    clearTimeout(this.#leases.get(callToken)?.end)
    this.#leases.delete(callToken)
    heldHere.delete(callToken)
    if (this.#leases.size === 0) holding.delete(this)
  }

  get #intervalMs(): number {
    return this.#leaseMs / 3
  }

  #ask(callToken: string): ReturnType<ToolCallLog['renew']> {
    return this.#log.renew(callToken, nowOf(this.#log) + this.#leaseMs)
  }

  /** One timer for all calls of the task, which stops by itself. It keeps neither the process alive nor the log in memory. */
  #startTimer(): NodeJS.Timeout {
    this.#lastTick = leaseMoment()
    const keeper = new WeakRef(this)
    const timer = setInterval(() => {
      const alive = keeper.deref()
      if (alive === undefined) clearInterval(timer)
      else alive.#tick()
    }, this.#intervalMs)
    return timer.unref()
  }

  #tick(): void {
    if (this.#leases.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const sleptMs = this.#sleptMs()
    for (const [callToken, lease] of this.#leases) {
      lease.since -= sleptMs
      void this.#renew(callToken, lease)
      const leftMs = lease.since + this.#leaseMs - performance.now()
      if (leftMs <= this.#intervalMs) {
        lease.end ??= setTimeout(() => this.#end(callToken, lease), Math.max(0, leftMs)).unref()
      }
    }
  }

  /** How long the machine slept since the last time, as far as the fine clock does not tell. */
  #sleptMs(): number {
    const last = this.#lastTick
    this.#lastTick = leaseMoment()
    if (last === undefined) return 0
    return Math.max(0, passedSince(last) - (this.#lastTick.steadyMs - last.steadyMs))
  }

  async #renew(callToken: string, lease: Lease): Promise<void> {
    const sentAt = performance.now()
    try {
      const answer = this.#ask(callToken)
      // What was answered at once counts before anything else is looked at.
      const renewed = isThenable(answer) ? await answer : answer
      if (renewed) this.#confirm(lease, sentAt)
      else if (this.#leases.has(callToken)) lease.onLost()
    } catch (error) {
      // The lease lasts for two more tries.
      this.#onError(error)
    }
  }

  /** A log that answers at once is asked a last time. Another one has had its time. */
  #end(callToken: string, lease: Lease): void {
    const sentAt = performance.now()
    try {
      const answer = this.#ask(callToken)
      if (answer === true) {
        this.#confirm(lease, sentAt)
        return
      }
      if (isThenable(answer)) answer.then(undefined, this.#onError)
    } catch (error) {
      this.#onError(error)
    }
    lease.onLost()
  }

  #confirm(lease: Lease, since: number): void {
    lease.since = since
    clearTimeout(lease.end)
    lease.end = undefined
  }
}
