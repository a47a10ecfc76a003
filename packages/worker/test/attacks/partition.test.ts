import { expect, test } from 'vitest'
import { describeWithServer } from '../fixtures/cluster.ts'
import {
  type Moment,
  openPartitionedWorkers,
  type PartitionedWorkers,
  type Trial,
} from '../fixtures/partition.ts'

// A worker loses the network to its database for longer than its lease. Another one finishes the run. When the network is
// whole again, what the first one had sent arrives, and so do the answers that it missed.

/** `SMITHERS_PARTITION_TRIALS=200` makes as many; every moment is tried in each fifteen. */
const count = Number(process.env['SMITHERS_PARTITION_TRIALS'] ?? 15)
const atOnce = 15

const moments: readonly Moment[] = [1, 2, 3].flatMap((charge) =>
  (
    [
      ['start', 'statement'],
      ['start', 'answer'],
      ['start', 'later'],
      ['finish', 'statement'],
      ['finish', 'answer'],
    ] as const
  ).map(([step, cut]) => ({ charge, step, cut })),
)

async function tryMoments(
  workers: PartitionedWorkers,
  trials: number,
  isCareless: boolean,
): Promise<Trial[]> {
  const made: Trial[] = []
  while (made.length < trials) {
    const size = Math.min(atOnce, trials - made.length)
    const next = Array.from({ length: size }, (_, index) => (made.length + index) % moments.length)
    const round = next.flatMap((index) => moments[index] ?? [])
    made.push(...(await Promise.all(round.map((each) => workers.try(each, { isCareless })))))
  }
  return made
}

describeWithServer('a worker that is cut off from the database for longer than its lease', () => {
  test('pays nothing twice when another one has finished its run', async () => {
    const trials = await tryMoments(await openPartitionedWorkers(), count, false)
    expect(trials).toHaveLength(count)
    expect(trials.filter(({ twice, missing }) => twice + missing > 0)).toEqual([])
    const late = trials.filter(({ moment }) => moment.cut !== 'later')
    expect(late.filter(({ outcome }) => outcome !== 'WORKFLOW_RUN_LOST')).toEqual([])
  })

  test('pays twice when it believes in its lease without an answer and no attempt begins in the log', async () => {
    const trials = await tryMoments(await openPartitionedWorkers(), moments.length, true)
    expect(trials.filter(({ twice }) => twice > 0)).not.toEqual([])
    expect(trials.filter(({ missing }) => missing > 0)).toEqual([])
  })
})
