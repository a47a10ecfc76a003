import { atMost, type BenchRow, benchRow, figureOf } from '../../../../scripts/bench/result.ts'

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
 * Runs jobs and yardsticks in turns, so that a slow moment of the machine falls on all of them, and returns the medians,
 * in microseconds a call. The order is another in each round: an fsync also waits for what the variant before it has left
 * unwritten.
 */
export async function compare(
  jobs: readonly Job[],
  { rounds, warmUp, prepare }: { rounds: number; warmUp: number; prepare?: Prepare },
): Promise<readonly BenchRow[]> {
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
  return entries.flatMap(({ job, ours, beside }) =>
    beside.map(({ yardstick: { name, atMost: limit }, variant }) =>
      benchRow(figureOf(ours.times), {
        job: job.name,
        beside: variant === undefined ? undefined : { name, ...figureOf(variant.times) },
        goal: atMost(limit, variant === undefined ? 'median' : 'ratio'),
      }),
    ),
  )
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
