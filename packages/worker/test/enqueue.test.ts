import { enqueueWorkflow, listQueue } from '@smithers/worker'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { describeWithServer, openCluster } from './fixtures/cluster.ts'

describeWithServer('enqueueWorkflow', () => {
  test('makes one run and one job of the same id, however often and however many ask at once', async () => {
    const cluster = await openCluster()
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => cluster.enqueue({ runId: 'r', charges: 2 })),
    )
    expect(asked.filter(Boolean)).toHaveLength(1)
    expect(await jobsOf(cluster.schema, cluster.pool)).toBe(1)
    await cluster.workerHere()
    await cluster.untilStatus('r', 'finished')
    expect(await cluster.enqueue({ runId: 'r', charges: 2 })).toBe(false)
    await cluster.untilSearchedAgain()
    expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1 })
    // graphile-worker removes a job after the run of it has ended.
    await expect.poll(() => jobsOf(cluster.schema, cluster.pool)).toBe(0)
  })

  test('queues a run exactly when the transaction of its client is committed', async () => {
    const { pool, schema, status, untilStatus, workerHere } = await openCluster()
    await workerHere()
    const queueAnd = async (runId: string, end: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
      const client = await pool.connect()
      await client.query('BEGIN')
      const input = { order: runId, charges: 1 }
      await enqueueWorkflow({ pool: client, schema, definition: 'pay', runId, input })
      await client.query(end)
      client.release()
    }
    await queueAnd('rolled-back', 'ROLLBACK')
    await queueAnd('committed', 'COMMIT')
    await untilStatus('committed', 'finished')
    expect(await status('rolled-back')).toBeUndefined()
  })

  test('runs whose ids look like the keys of later jobs of another do not disturb each other', async () => {
    const cluster = await openCluster()
    const ids = ['r', 'r:1', 'r:2', 'r1', `${cluster.schema}:r`]
    for (const runId of ids) await cluster.enqueue({ runId, charges: 1 })
    // Each gets a second job, as after the death of its worker.
    await cluster.pool.query(
      `DELETE FROM graphile_worker._private_jobs WHERE key LIKE '%${cluster.schema}%'`,
    )
    await cluster.workerHere()
    for (const runId of ids) await cluster.untilStatus(runId, 'finished')
    expect(Object.values(cluster.effects())).toEqual([1, 1, 1, 1, 1])
  })

  test('a run is not begun before its time', async () => {
    const cluster = await openCluster()
    await cluster.workerHere()
    await cluster.enqueue({ runId: 'later', charges: 1, runAt: new Date(Date.now() + 3_600_000) })
    await cluster.enqueue({ runId: 'now', charges: 1 })
    await cluster.untilStatus('now', 'finished')
    await cluster.untilSearchedAgain()
    expect(cluster.effects()).toEqual({ 'now-1': 1 })
    expect(await listQueue(cluster)).toMatchObject([
      { runId: 'later', status: 'queued', hasWorker: true },
    ])
  })

  test('a schema without a queue has no runs in it, and some runs of a queue are listed by their ids', async () => {
    const cluster = await openCluster()
    expect(await listQueue({ pool: cluster.pool, schema: 'none_yet' })).toEqual([])
    for (const runId of ['a', 'b', 'c']) await cluster.enqueue({ runId })
    const listed = await listQueue({ ...cluster, runIds: ['c', 'a', 'unknown'] })
    expect(listed.map(({ runId }) => runId)).toEqual(['a', 'c'])
  })

  test('refuses another input for a known run, and what no other process could read', async () => {
    const cluster = await openCluster()
    await cluster.enqueue({ runId: 'r', charges: 1 })
    await expect(cluster.enqueue({ runId: 'r', charges: 2 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    for (const options of [
      { runId: 'x', input: { at: new Date() } },
      { runId: 'x', input: { count: Number.NaN } },
      { runId: '' },
      { runId: 'a\0b' },
      { runId: 'x', queue: 'no spaces' },
      { runId: 'x', priority: 40_000 },
    ]) {
      await expect(cluster.enqueue(options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await cluster.status('x')).toBeUndefined()
  })
})

async function jobsOf(schema: string, pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM graphile_worker.jobs WHERE task_identifier LIKE $1',
    [`smithers:${schema}:%`],
  )
  return rows[0]?.count ?? 0
}
