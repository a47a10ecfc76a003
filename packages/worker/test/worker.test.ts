import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { listQueue, listWorkers } from '@smithers/worker'
import { expect, test } from 'vitest'
import { type Cluster, describeWithServer, openCluster } from './fixtures/cluster.ts'
import { pay } from './fixtures/pay.ts'

describeWithServer('a worker', () => {
  test('a run that is killed in mid payment goes on in another process, and nothing is paid twice', async () => {
    const cluster = await openCluster()
    const booked = cluster.payments.holdNext('r-2')
    const first = cluster.worker({ name: 'first' })
    await first.ready
    await cluster.enqueue({ runId: 'r' })
    await booked
    expect(await listQueue(cluster)).toMatchObject([{ status: 'running', worker: 'first' }])
    first.kill('SIGKILL')
    await first.ended
    cluster.worker({ name: 'second' })
    await cluster.untilStatus('r', 'finished')
    expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1, 'r-3': 1 })
    const attempts = await cluster.log.runs.attempts('r')
    expect(attempts.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual([
      'charge-1 finished',
      'charge-2 interrupted',
      'charge-2 finished',
      'charge-3 finished',
    ])
  })

  test('an approval that is decided while no worker lives wakes the run, and a decision beside a worker at once', async () => {
    const cluster = await openCluster()
    const first = cluster.worker()
    await cluster.enqueue({ runId: 'r', definition: 'pay-approved', charges: 2 })
    await cluster.untilStatus('r', 'waiting')
    first.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    const decide = async (): Promise<void> => {
      const [approval] = await pendingApprovals({ log: cluster.log, runId: 'r' })
      await resolveToolApproval({ log: cluster.log, id: approval?.id ?? '', approved: true })
    }
    await decide()
    expect(cluster.effects()).toEqual({})
    // Its search comes once in a minute, so only the decision can wake the second wait.
    cluster.worker({ sweepMs: 60_000 })
    await expect.poll(() => cluster.effects()).toEqual({ 'r-1': 1 })
    await cluster.untilStatus('r', 'waiting')
    await decide()
    await cluster.untilStatus('r', 'finished')
    expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1 })
    expect(await listQueue(cluster)).toEqual([])
  })

  test('a run that waits for a second approval is not woken by the first again', async () => {
    const cluster = await openCluster()
    await cluster.workerHere()
    await cluster.enqueue({ runId: 'r', definition: 'pay-approved', charges: 2 })
    await cluster.untilStatus('r', 'waiting')
    const [approval] = await pendingApprovals({ log: cluster.log, runId: 'r' })
    await resolveToolApproval({ log: cluster.log, id: approval?.id ?? '', approved: true })
    await expect
      .poll(async () => (await pendingApprovals({ log: cluster.log })).map(({ nodeId }) => nodeId))
      .toEqual(['charge-2'])
    await cluster.untilStatus('r', 'waiting')
    const before = await cluster.log.runs.attempts('r')
    await cluster.untilSearchedAgain()
    expect(await cluster.log.runs.attempts('r')).toEqual(before)
  })

  test('a definition that no worker knows is left alone and listed, until one comes that knows it', async () => {
    const cluster = await openCluster()
    const old = cluster.worker({ name: 'old', definitions: ['pay'] })
    await old.ready
    await cluster.enqueue({ runId: 'new', definition: 'pay-together' })
    await cluster.enqueue({ runId: 'known' })
    await cluster.untilStatus('known', 'finished')
    expect(await listQueue(cluster)).toMatchObject([
      {
        runId: 'new',
        status: 'queued',
        definition: 'pay-together',
        hasWorker: false,
        worker: null,
      },
    ])
    expect(await listWorkers(cluster)).toMatchObject([{ name: 'old', definitions: ['pay'] }])
    cluster.worker({ definitions: ['pay-together'] })
    await cluster.untilStatus('new', 'finished')
    expect(cluster.effects()).toMatchObject({ 'new-1': 1, 'new-2': 1, 'new-3': 1 })
  })

  test('a worker of another queue takes nothing', async () => {
    const cluster = await openCluster()
    await cluster.workerHere({ queue: 'other' })
    await cluster.enqueue({ runId: 'r' })
    await cluster.enqueue({ runId: 'o', queue: 'other' })
    await cluster.untilStatus('o', 'finished')
    await cluster.untilSearchedAgain()
    expect(await cluster.status('r')).toBe('queued')
    expect((await listQueue(cluster)).map(({ runId, hasWorker }) => [runId, hasWorker])).toEqual([
      ['r', false],
    ])
  })

  test('SIGTERM drains: the run stops between effects, goes back, and another worker ends it', async () => {
    const cluster = await openCluster()
    const booked = cluster.payments.holdNext('r-2')
    const first = cluster.worker()
    await cluster.enqueue({ runId: 'r' })
    await booked
    first.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(await listQueue(cluster)).toMatchObject([
      { status: 'queued', failures: 0, worker: null },
    ])
    expect(await listWorkers(cluster)).toEqual([])
    cluster.worker()
    await cluster.untilStatus('r', 'finished')
    expect(cluster.effects()).toEqual({ 'r-1': 1, 'r-2': 1, 'r-3': 1 })
  })

  test('a run that fails again and again ends as failed with the last error, and can be queued again', async () => {
    const cluster = await openCluster()
    await cluster.workerHere({ maxTries: 2 })
    await cluster.enqueue({ runId: 'r', definition: 'fail' })
    await expect.poll(async () => (await listQueue(cluster))[0]?.failures).toBe(1)
    expect((await listQueue(cluster))[0]?.lastErrorJson).toContain('no stock for r')
    await cluster.untilStatus('r', 'failed')
    const [run] = await cluster.log.runs.list({ runId: 'r' })
    expect(run?.errorJson).toContain('no stock for r')
    const tries = (await cluster.log.runs.attempts('r')).filter(({ nodeId }) => nodeId === 'fail')
    // The first try finished a task before it failed, which is progress and still one failure.
    expect(tries).toHaveLength(2)
    expect(cluster.effects()).toEqual({ 'r-1': 1 })
    await expect.poll(() => listQueue(cluster)).toEqual([])
    expect(await cluster.enqueue({ runId: 'r', definition: 'fail' })).toBe(true)
    await expect
      .poll(
        async () =>
          (await cluster.log.runs.attempts('r')).filter(({ nodeId }) => nodeId === 'fail').length,
      )
      .toBeGreaterThan(2)
  })

  test('a run with an input that its workflow refuses ends as failed', async () => {
    const cluster = await openCluster()
    await cluster.workerHere({ maxTries: 1 })
    await cluster.enqueue({ runId: 'r', input: { order: 7 } })
    await cluster.untilStatus('r', 'failed')
    expect((await cluster.log.runs.list({ runId: 'r' }))[0]?.errorJson).toContain('INVALID_INPUT')
  })

  test('a job of a run that another process holds ends without doing anything', async () => {
    const cluster = await openCluster()
    const nowMs = Date.now()
    const held = { runId: 'r', inputJson: '{"order":"r","charges":1}', optionsJson: '{}' }
    const lease = { leaseToken: 'theirs', leaseExpiresAtMs: nowMs + 3_600_000, nowMs }
    await cluster.log.runs.claim({ ...held, ...lease, ownerId: 'elsewhere:1:1' })
    await cluster.workerHere()
    expect(await cluster.enqueue({ runId: 'r', charges: 1 })).toBe(true)
    await cluster.enqueue({ runId: 'after', charges: 1 })
    await cluster.untilStatus('after', 'finished')
    await cluster.untilSearchedAgain()
    expect(cluster.effects()).toEqual({ 'after-1': 1 })
    expect((await cluster.log.runs.list({ runId: 'r' }))[0]).toMatchObject({
      status: 'running',
      leaseToken: 'theirs',
    })
    // Once the other process lets go of it, the worker goes on with it.
    await cluster.log.runs.release({
      runId: 'r',
      leaseToken: 'theirs',
      status: 'queued',
      errorJson: null,
      nowMs,
    })
    await cluster.untilStatus('r', 'finished')
    expect(cluster.effects()).toEqual({ 'after-1': 1, 'r-1': 1 })
  })

  test('a run that waits since it was begun outside the queue is adopted, decided before it was queued or after', async () => {
    const cluster = await openCluster()
    for (const runId of ['before', 'after']) {
      const run = {
        runId,
        definition: 'pay-approved',
        charges: 1,
        url: cluster.payments.url,
      } as const
      await expect(pay(cluster.log, run)).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
      expect(await cluster.status(runId)).toBe('waiting')
    }
    const decide = async (runId: string): Promise<void> => {
      const [approval] = await pendingApprovals({ log: cluster.log, runId })
      await resolveToolApproval({ log: cluster.log, id: approval?.id ?? '', approved: true })
    }
    const enqueue = (runId: string): Promise<boolean> =>
      cluster.enqueue({ runId, definition: 'pay-approved', charges: 1 })
    await cluster.workerHere()
    await decide('before')
    expect(await enqueue('before')).toBe(true)
    await cluster.untilStatus('before', 'finished')
    expect(await enqueue('after')).toBe(true)
    expect(await enqueue('after')).toBe(false)
    await cluster.untilSearchedAgain()
    expect(await cluster.status('after')).toBe('waiting')
    await decide('after')
    await cluster.untilStatus('after', 'finished')
    expect(cluster.effects()).toEqual({ 'before-1': 1, 'after-1': 1 })
  })

  test('a definition that no live worker has is said once, however many runs and searches there are', async () => {
    const cluster = await openCluster()
    const said: string[] = []
    for (const runId of ['a', 'b']) await cluster.enqueue({ runId, definition: 'nowhere' })
    await cluster.workerHere({ onProblem: (message) => void said.push(message) })
    await cluster.untilSearchedAgain()
    expect(said.filter((message) => message.includes('"nowhere"'))).toHaveLength(1)
    expect((await listQueue(cluster)).map(({ hasWorker }) => hasWorker)).toEqual([false, false])
  })

  test('a run of another version of its workflow is left to others with longer and longer pauses, and said once', async () => {
    const cluster = await openCluster()
    const said: string[] = []
    const old = await cluster.workerHere({ run: { program: { 'pay.ts': 'old' } } })
    for (const runId of ['a', 'b']) {
      await cluster.enqueue({ runId, definition: 'pay-approved', charges: 1 })
      await cluster.untilStatus(runId, 'waiting')
    }
    await old.stop()
    for (const { id } of await pendingApprovals({ log: cluster.log })) {
      await resolveToolApproval({ log: cluster.log, id, approved: true })
    }
    await cluster.workerHere({
      run: { program: { 'pay.ts': 'new' } },
      onProblem: (message) => void said.push(message),
    })
    const errors = async (): Promise<string[]> =>
      (await listQueue(cluster)).map(({ lastErrorJson }) => codeOf(lastErrorJson))
    await expect.poll(errors).toEqual(['WORKFLOW_CHANGED', 'WORKFLOW_CHANGED'])
    await hasten(cluster)
    await expect.poll(() => pauses(cluster)).toEqual([20, 20])
    expect(cluster.effects()).toEqual({})
    expect(said.filter((message) => message.includes('another version'))).toHaveLength(1)
    expect((await listQueue(cluster)).map(({ failures }) => failures)).toEqual([0, 0])
  })
})

function codeOf(errorJson: string | null): string {
  return String((JSON.parse(errorJson ?? '{}') as { readonly code?: unknown }).code)
}

/** Makes the runs that pause due now. */
async function hasten({ pool, schema }: Cluster): Promise<void> {
  await pool.query(
    `SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) FROM graphile_worker.jobs
      WHERE task_identifier LIKE $1`,
    [`smithers:${schema}:%`],
  )
}

/** The seconds from the adding of each job to its time. */
async function pauses({ pool, schema }: Cluster): Promise<number[]> {
  const { rows } = await pool.query<{ seconds: number }>(
    `SELECT round(extract(epoch FROM run_at - created_at))::int AS seconds FROM graphile_worker.jobs
      WHERE task_identifier LIKE $1 AND locked_at IS NULL`,
    [`smithers:${schema}:%`],
  )
  return rows.map(({ seconds }) => seconds)
}
