import { uptime } from 'node:os'

/** A moment by two clocks that are never set: the fine one may stand still while the machine sleeps. */
export interface LeaseMoment {
  readonly steadyMs: number
  readonly uptimeMs: number
}

/** The present, to be taken before a lease is asked for: it lasts from then on. */
export function leaseMoment(): LeaseMoment {
  return { steadyMs: performance.now(), uptimeMs: uptime() * 1000 }
}

/** Milliseconds since a moment, those included in which the process was stopped or the machine slept. */
export function passedSince({ steadyMs, uptimeMs }: LeaseMoment): number {
  return Math.max(performance.now() - steadyMs, uptime() * 1000 - uptimeMs - coarseMs)
}

/** What `setTimeout` can wait for. A longer lease is waited for in parts. */
const longestTimerMs = 2_147_483_647

/** Some systems tell the uptime in whole seconds. */
const coarseMs = 1000

/**
 * Calls back at the end of the last lease that was confirmed, also while a renewal waits for its answer: from then on
 * another process may have what was leased. It keeps no process alive.
 */
export class LeaseTimer {
  readonly #leaseMs: number
  readonly #onEnd: () => void
  #since: LeaseMoment
  #timer: NodeJS.Timeout | undefined

  /** @param since When the lease was asked for. */
  constructor(leaseMs: number, since: LeaseMoment, onEnd: () => void) {
    this.#leaseMs = leaseMs
    this.#onEnd = onEnd
    this.#since = since
    this.#start()
  }

  /** The lease lasts from this moment, when its renewal was asked for. */
  confirm(since: LeaseMoment): void {
    this.stop()
    this.#since = since
    this.#start()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #start(): void {
    const leftMs = this.#leaseMs - passedSince(this.#since)
    this.#timer = setTimeout(
      () => {
        if (passedSince(this.#since) < this.#leaseMs) this.#start()
        else this.#onEnd()
      },
      Math.min(Math.max(0, leftMs), longestTimerMs),
    ).unref()
  }
}
