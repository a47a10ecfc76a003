import type { PostgresPool } from './postgres-pool.ts'

/** The server's time and what is known of it. */
interface Sample {
  /** Of the server. Milliseconds since the epoch. */
  readonly serverMs: number
  /** The same moment by this process's clock that only goes forward. */
  readonly at: number
  /** The same moment by this machine's clock. */
  readonly wallMs: number
  /** How far `serverMs` may be from the truth. Milliseconds. */
  readonly errorMs: number
}

/**
 * The clock of the server, as this process estimates it from the fastest of a few round trips. It is asked again after a
 * minute, by the next use, and when this machine has slept or its clock was set. No timer waits for that.
 */
export class ServerClock {
  readonly #pool: PostgresPool
  #sample: Sample | undefined
  #askedAt = -Infinity
  #lastMs = -Infinity

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** The server's time; before the first {@link ask}, this machine's. Whole milliseconds since the epoch; never goes back. */
  now(): number {
    const sample = this.#sample
    if (sample === undefined) return Date.now()
    const passedMs = performance.now() - sample.at
    if (passedMs > refreshMs || hasLeapt(sample, passedMs)) this.#askInTime()
    this.#lastMs = Math.max(this.#lastMs, Math.floor(sample.serverMs + passedMs))
    return this.#lastMs
  }

  /** Asks the server. Rejects when it does not answer; what was known stays. */
  async ask(): Promise<void> {
    this.#askedAt = performance.now()
    const found = await fastest(this.#pool)
    const known = this.#sample
    const ageMs = known === undefined ? 0 : found.at - known.at
    // When the machine has slept, the time that passed is not known.
    if (known === undefined || hasLeapt(known, ageMs)) {
      this.#sample = found
      return
    }
    const errorMs = known.errorMs + ageMs * driftPerMs
    // A slow answer tells less than a fast one from a minute ago.
    this.#sample =
      found.errorMs <= errorMs ? found : { ...found, serverMs: known.serverMs + ageMs, errorMs }
  }

  #askInTime(): void {
    if (performance.now() - this.#askedAt < shortestPauseMs) return
    // A server that cannot be reached is asked again by a later use.
    this.ask().catch(() => {})
  }
}

/** Whether this machine's clock and the one that only goes forward do not agree on the time that has passed. */
function hasLeapt({ wallMs }: Sample, passedMs: number): boolean {
  return Math.abs(Date.now() - wallMs - passedMs) > longestLeapMs
}

async function fastest(pool: PostgresPool): Promise<Sample> {
  let best: Sample | undefined
  for (let count = 0; count < samples; count += 1) {
    const sentAt = performance.now()
    const { rows } = await pool.query({ text: clockSql })
    const at = performance.now()
    const errorMs = (at - sentAt) / 2
    const serverMs = Number(rows[0]?.['now_ms']) + errorMs
    if (best === undefined || errorMs < best.errorMs) {
      best = { serverMs, at, wallMs: Date.now(), errorMs }
    }
  }
  return best as Sample
}

const clockSql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms'

const samples = 3
const refreshMs = 60_000
const shortestPauseMs = 1_000
const longestLeapMs = 1_000

/** Two clocks may part by this much in a millisecond. */
const driftPerMs = 0.0002
