import type { ToolCallLog } from '../log/tool-call-log.ts'

/** Prolongs the leases of running calls, so that nobody takes them for orphans. */
export class LeaseKeeper {
  readonly #log: ToolCallLog
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  readonly #held = new Map<string, () => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: ToolCallLog, leaseMs: number, onError: (error: unknown) => void) {
    this.#log = log
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  /** Renews the lease of a call until it is released; `onLost` is called when somebody else has finished its row. */
  hold(callToken: string, onLost: () => void): void {
    this.#held.set(callToken, onLost)
    // One timer for all calls of the task, which stops by itself; it must not keep the process alive.
    this.#timer ??= setInterval(() => this.#tick(), this.#leaseMs / 3).unref()
  }

  release(callToken: string): void {
    this.#held.delete(callToken)
  }

  #tick(): void {
    if (this.#held.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    for (const callToken of this.#held.keys()) void this.#renew(callToken)
  }

  async #renew(callToken: string): Promise<void> {
    try {
      const renewed = await this.#log.renew(callToken, Date.now() + this.#leaseMs)
      if (!renewed) this.#held.get(callToken)?.()
    } catch (error) {
      // The lease lasts for two more tries.
      this.#onError(error)
    }
  }
}
