import { byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import {
  atMost,
  type BenchRow,
  benchRow,
  type BenchTable,
  figureOf,
} from '../../../scripts/bench/result.ts'

/** A job done in two ways, and the ratio that was promised. */
export interface PairedJob {
  readonly name: string
  /** The other way, where it is not that of the whole table. */
  readonly plainName?: string
  /** Ours over plain, at most; undefined when it only informs. */
  readonly target?: number
  readonly ours: (round: number) => Promise<unknown>
  readonly plain: (round: number) => Promise<unknown>
}

const rounds = byEffort({ full: 400, short: 200, quick: 3 })
const warmUp = byEffort({ full: 50, short: 40, quick: 1 })

/**
 * Runs the two ways of each job in turns, so that a slow moment of the machine falls on both, and publishes the medians.
 * Returns whether every target was met.
 */
export async function publishPairedMedians(
  table: Pick<BenchTable, 'name' | 'title' | 'about' | 'command'> & { readonly plain: string },
  jobs: readonly PairedJob[],
): Promise<boolean> {
  const rows: BenchRow[] = []
  for (const { name, target, ours, plain, plainName } of jobs) {
    const times: { ours: number[]; plain: number[] } = { ours: [], plain: [] }
    for (let round = 0; round < rounds + warmUp; round += 1) {
      const oursFirst = round % 2 === 0
      const first = await timed(oursFirst ? ours : plain, round)
      const second = await timed(oursFirst ? plain : ours, round)
      if (round < warmUp) continue
      times.ours.push(oursFirst ? first : second)
      times.plain.push(oursFirst ? second : first)
    }
    rows.push(
      benchRow(figureOf(times.ours), {
        job: name,
        beside: { name: plainName ?? table.plain, ...figureOf(times.plain) },
        goal: target === undefined ? undefined : atMost(target),
      }),
    )
  }
  const { name, title, about, command } = table
  return (
    publish({
      name,
      title,
      about,
      command,
      rows,
      rounds: `Medians of ${rounds} rounds`,
      unit: 'µs',
      chart: 'ratio',
    }) === 0
  )
}

async function timed(work: (round: number) => Promise<unknown>, round: number): Promise<number> {
  const startedAt = performance.now()
  await work(round)
  return (performance.now() - startedAt) * 1000
}
