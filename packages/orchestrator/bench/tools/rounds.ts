import { cpus, release } from 'node:os'

/** One call of a job. Calls are counted through all rounds, from 0. */
export type Work = (call: number) => unknown

/** What ours is measured against, and the promise: at most so many times its cost, or so many microseconds. */
export interface Yardstick {
  readonly name: string
  /** Undefined for a promise in microseconds. */
  readonly work?: Work
  readonly atMost: number
}

export interface Job {
  readonly name: string
  readonly ours: Work
  readonly beside: readonly Yardstick[]
  /** Calls in a row, timed together: a clock cannot time one short call. @default 1 */
  readonly calls?: number
}

/** A job or its yardstick, with the microseconds that a call took in each round. */
interface Variant {
  readonly work: Work
  readonly calls: number
  readonly times: number[]
  call: number
}

/** Runs before each round, untimed. */
type Prepare = () => unknown

/**
 * Runs jobs and yardsticks in turns, so that a slow moment of the machine falls on all of them, and prints the medians.
 * The order is another in each round: an fsync also waits for what the variant before it has left unwritten. Returns how
 * many promises were missed.
 */
export async function compare(
  jobs: readonly Job[],
  { rounds, warmUp, prepare }: { rounds: number; warmUp: number; prepare?: Prepare },
): Promise<number> {
  const entries = jobs.map((job) => ({
    job,
    ours: variantOf(job.ours, job),
    beside: job.beside.map((yardstick) => ({
      yardstick,
      variant: yardstick.work === undefined ? undefined : variantOf(yardstick.work, job),
    })),
  }))
  const variants = entries.flatMap(({ ours, beside }) => [
    ours,
    ...beside.flatMap(({ variant }) => variant ?? []),
  ])
  for (let round = -warmUp; round < rounds; round += 1) {
    await prepare?.()
    for (const variant of shuffled(variants)) {
      const took = await timeOf(variant)
      if (round >= 0) variant.times.push(took)
    }
  }
  let missed = 0
  for (const { job, ours, beside } of entries) {
    for (const { yardstick, variant } of beside) {
      const isMet = report(
        `${job.name} : ${yardstick.name}`,
        median(ours.times),
        variant && median(variant.times),
        yardstick.atMost,
      )
      if (!isMet) missed += 1
    }
  }
  return missed
}

function variantOf(work: Work, { calls = 1 }: Job): Variant {
  return { work, calls, times: [], call: 0 }
}

async function timeOf(variant: Variant): Promise<number> {
  const { work, calls } = variant
  const startedAt = performance.now()
  for (let count = 0; count < calls; count += 1) {
    await work(variant.call)
    variant.call += 1
  }
  return ((performance.now() - startedAt) * 1000) / calls
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Prints the machine and the head of the table. */
export function printHead(): void {
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}\n` +
      'Medians of rounds that take turns, in microseconds a call.\n',
  )
  console.log(
    `${'job : beside'.padEnd(70)}${'ours'.padStart(10)}${'plain'.padStart(10)}${'ratio'.padStart(8)}  goal`,
  )
}

/** Prints one row; returns whether its goal is met. Without `plain`, the goal is an amount. */
export function report(
  name: string,
  ours: number,
  plain: number | undefined,
  atMost: number,
  unit: string = 'µs',
): boolean {
  const ratio = plain === undefined ? undefined : ours / plain
  const isMet = (ratio ?? ours) <= atMost
  const goal = ratio === undefined ? `≤ ${atMost} ${unit}` : `≤ ${atMost} ×`
  const figures = [
    ours.toFixed(1).padStart(10),
    (plain?.toFixed(1) ?? '–').padStart(10),
    (ratio?.toFixed(2) ?? '').padStart(8),
  ].join('')
  console.log(`${name.padEnd(70)}${figures}  ${goal} ${isMet ? 'met' : 'MISSED'}`)
  return isMet
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
