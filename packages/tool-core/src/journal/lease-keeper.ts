import { heldHere } from '../log/process-owner.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'

/** The keepers with running calls, which are renewed even when nothing else refers to them. */
const holding = new Set<LeaseKeeper>()

/** Renews the leases of running calls, so that no other worker takes them for orphans. */
export class LeaseKeeper {
  readonly #log: ToolCallLog
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  readonly #leases = new Map<string, () => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: ToolCallLog, leaseMs: number, onError: (error: unknown) => void) {
    this.#log = log
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  /** Renews the lease of a call until it is released; `onLost` is called when another worker has finished its row. */
  hold(callToken: string, onLost: () => void): void {
    this.#leases.set(callToken, onLost)
    heldHere.add(callToken)
    holding.add(this)
    this.#timer ??= this.#startTimer()
  }

  release(callToken: string): void {
    this.#leases.delete(callToken)
    heldHere.delete(callToken)
    if (this.#leases.size === 0) holding.delete(this)
  }

  /** One timer for all calls of the task, which stops by itself. It keeps neither the process alive nor the log in memory. */
  #startTimer(): NodeJS.Timeout {
    const keeper = new WeakRef(this)
    const timer = setInterval(() => {
      const alive = keeper.deref()
      if (alive === undefined) clearInterval(timer)
      else alive.#tick()
    }, this.#leaseMs / 3)
    return timer.unref()
  }

  #tick(): void {
    if (this.#leases.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const callToken of this.#leases.keys()) void this.#renew(callToken)
  }

  async #renew(callToken: string): Promise<void> {
    try {
      const renewed = await this.#log.renew(callToken, Date.now() + this.#leaseMs)
      if (!renewed) this.#leases.get(callToken)?.()
    } catch (error) {
      // The lease lasts for two more tries.
      this.#onError(error)
    }
  }
}
