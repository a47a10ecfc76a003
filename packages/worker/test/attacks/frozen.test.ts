import { expect, test } from 'vitest'
import { describeWithServer } from '../fixtures/cluster.ts'
import { type Moment, openPartitionedWorkers, type Trial } from '../fixtures/partition.ts'

// A worker is stopped by SIGSTOP for longer than its lease, as a machine that sleeps or swaps is. Another one finishes the
// run. When the first one goes on, it is where it was: before the start or the end of a payment was stored. The control
// with a careless worker is in partition.test.ts.

const moments: readonly Moment[] = [
  { charge: 1, step: 'start', cut: 'process' },
  { charge: 2, step: 'finish', cut: 'process' },
  { charge: 3, step: 'start', cut: 'process' },
]

/** Each moment in a process of its own, all at once. */
function freezeAtMoments(): Promise<Trial[]> {
  return Promise.all(
    moments.map(async (moment) =>
      (await openPartitionedWorkers()).try(moment, { isCareless: false }),
    ),
  )
}

describeWithServer('a worker that is frozen for longer than its lease', () => {
  test('is fenced when it goes on, and pays nothing twice', async () => {
    const trials = await freezeAtMoments()
    expect(trials.map(({ outcome }) => outcome)).toEqual(moments.map(() => 'WORKFLOW_RUN_LOST'))
    expect(trials.filter(({ twice, missing }) => twice + missing > 0)).toEqual([])
  })
})
