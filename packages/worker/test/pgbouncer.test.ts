import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { listQueue } from '@smithers/worker'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  missingPooler,
  startPooler,
  type TestPooler,
} from '../../log-postgres/test/fixtures/pgbouncer.ts'
import { openCluster, shortLeaseMs } from './fixtures/cluster.ts'

const missing = process.env['SMITHERS_TEST_POSTGRES_MISSING'] ?? missingPooler
const because = missing === undefined ? '' : ` (${missing})`

describe.skipIf(missing !== undefined)(
  `workers behind PgBouncer in transaction mode${because}`,
  () => {
    let pooler: TestPooler
    beforeAll(async () => {
      pooler = await startPooler(process.env['SMITHERS_TEST_POSTGRES'] ?? '')
    })
    afterAll(() => pooler.stop())

    test('hear no notification there, which is the control', async () => {
      const listener = new pg.Client({ connectionString: pooler.connectionString })
      await listener.connect()
      const heard: string[] = []
      listener.on('notification', ({ payload }) => void heard.push(payload ?? ''))
      await listener.query('LISTEN through_pooler')
      const { pool } = await openCluster()
      const direct = await pool.connect()
      direct.on('notification', ({ payload }) => void heard.push(`direct ${payload}`))
      await direct.query('LISTEN through_pooler')
      await pool.query(`NOTIFY through_pooler, 'word'`)
      await expect.poll(() => heard).toContain('direct word')
      await listener.query('SELECT 1')
      direct.release(true)
      await listener.end()
      expect(heard).toEqual(['direct word'])
    })

    test('find runs and decisions by polling, and go on with the run of one that was killed', async () => {
      const cluster = await openCluster()
      const through = { connectionString: pooler.connectionString, leaseMs: shortLeaseMs }
      const booked = cluster.payments.holdNext('r-2')
      const first = cluster.worker({ name: 'first', ...through })
      await first.ready
      await cluster.enqueue({ runId: 'r' })
      await booked
      first.kill('SIGKILL')
      await first.ended
      const second = cluster.worker({ name: 'second', ...through })
      await cluster.enqueue({ runId: 'asks', definition: 'pay-approved', charges: 1 })
      await cluster.untilStatus('asks', 'waiting')
      const [approval] = await pendingApprovals({ log: cluster.log, runId: 'asks' })
      await resolveToolApproval({ log: cluster.log, id: approval?.id ?? '', approved: true })
      await cluster.untilStatus('asks', 'finished')
      await cluster.untilStatus('r', 'finished')
      expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1, 'r-3': 1, 'asks-1': 1 })
      second.kill('SIGTERM')
      expect(await second.ended).toBe(0)
      expect(await listQueue(cluster)).toEqual([])
    })
  },
)
