import { expect, test } from 'vitest'
import { runCluster } from '../../demo/run-cluster.ts'
import { describeWithServer } from '../fixtures/cluster.ts'

/** `SMITHERS_WORKER_KILLS=50` kills as many workers. */
const wanted = Number(process.env['SMITHERS_WORKER_KILLS'] ?? 3)
const mostAtOnce = 10

describeWithServer('workers that are killed at random moments', () => {
  test(
    `lose no run and make no payment twice (${wanted} kills)`,
    { timeout: 240_000 + wanted * 30_000 },
    async ({ signal }) => {
      let [kills, interrupted, payments] = [0, 0, 0]
      for (let round = 1; kills < wanted || interrupted === 0; round += 1) {
        const mostKills = Math.min(mostAtOnce, Math.max(1, wanted - kills))
        const outcome = await runCluster({
          connectionString: process.env['SMITHERS_TEST_POSTGRES'] ?? '',
          schema: `kills_${process.pid}_${round}`,
          workers: 3,
          runs: 4 + 4 * mostKills,
          charges: 3,
          killEveryMs: 200 + Math.random() * 400,
          mostKills,
          approvals: 0,
          answerMs: 100,
          signal,
        })
        expect(outcome.holds, JSON.stringify(outcome)).toBe(true)
        kills += outcome.kills
        interrupted += outcome.interrupted
        payments += outcome.counts.reduce((sum, { counted }) => sum + counted, 0)
      }
      if (wanted > 3)
        console.log(`${kills} kills, ${interrupted} interrupted attempts, ${payments} payments`)
    },
  )
})
