import { createPostgresLog, type PostgresLog, type PostgresPool } from '@smithers/log-postgres'
import type { ApprovalRow, ClaimRequest } from '@smithers/tool-core/log'
import { beforeEach, expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { type CarelessPool, carelessPool } from './fixtures/careless-pool.ts'
import { admin, describeWithServer, newSchema } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: null } as const
const once = { durability: 'fsync', claim: 'once' } as const

const asked: ApprovalRow = {
  id: 'q',
  runId: 'run',
  nodeId: 'n',
  iteration: 0,
  attempt: 1,
  toolName: 't',
  toolCallId: 'c',
  callKey: 'k',
  inputHash: 'h',
  idempotencyKey: null,
  inputJson: null,
  inputSchemaJson: null,
  prompt: null,
  defaultsJson: null,
  previewJson: null,
  status: 'pending',
  requestedAtMs: 1,
  expiresAtMs: null,
  decidedAtMs: null,
  decidedBy: null,
  comment: null,
  approvedArgsJson: null,
}
const claim: ClaimRequest = {
  runId: 'run',
  inputJson: '{}',
  optionsJson: '{}',
  ownerId: 'elsewhere:1:1',
  leaseToken: 'one',
  leaseExpiresAtMs: 100,
  nowMs: 1,
}
const attempt = { runId: 'run', leaseToken: 'one', nodeId: 'n', iteration: 0, attempt: 1, nowMs: 2 }
const started = { ...attempt, taskId: 'n', outputName: null }
const finished = { ...attempt, status: 'finished', outputJson: '1', errorJson: null } as const
const end = {
  runId: 'run',
  leaseToken: 'one',
  status: 'finished',
  errorJson: null,
  nowMs: 3,
} as const

let schema: string
let pool: CarelessPool
let log: PostgresLog

describeWithServer('a log whose answer was lost after the commit', () => {
  beforeEach(async () => {
    pool = carelessPool(admin())
    schema = newSchema()
    log = await createPostgresLog({ pool, schema })
  })

  /** Runs a method whose next answer is lost, and shows that it was: the statement was sent more than once. */
  async function losing<Answer>(method: () => PromiseLike<Answer> | Answer): Promise<Answer> {
    pool.sent.length = 0
    pool.loseReplies()
    const answer = await method()
    expect(pool.sent.length).toBeGreaterThan(1)
    expect(pool.sent[1]?.text).toBe(pool.sent[0]?.text)
    return answer
  }

  it('has started the call once', async () => {
    const row = call({ idempotencyKey: 'k' })
    expect(await losing(() => log.start(row, once))).toEqual({ ok: true })
    expect(await log.list({})).toMatchObject([{ callToken: row.callToken, status: 'started' }])
  })

  it('has started each of several calls of one turn once', async () => {
    const rows = [1, 2, 3].map((seq) => call({ seq, idempotencyKey: `k${seq}` }))
    const answers = await losing(() => Promise.all(rows.map(async (row) => log.start(row, once))))
    expect(answers).toEqual([{ ok: true }, { ok: true }, { ok: true }])
    expect(await log.list({})).toHaveLength(3)
  })

  it('still refuses a call whose key another one holds, and a token that comes twice', async () => {
    const holder = call({ idempotencyKey: 'k' })
    await log.start(holder, once)
    const second = call({ seq: 2, idempotencyKey: 'k' })
    expect(await losing(() => log.start(second, once))).toMatchObject({ reason: 'claimed' })
    const twice = { ...holder, seq: 3, idempotencyKey: null }
    await expect(log.start(twice, relaxed)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await log.list({})).toHaveLength(1)
  })

  it('does not run a call that another process has ended before the answer came', async () => {
    const row = call({ leaseExpiresAtMs: 5, ownerId: 'elsewhere:1:1' })
    const other = await createPostgresLog({ pool: admin(), schema })
    const ended = Promise.withResolvers<void>()
    let opening = Number.POSITIVE_INFINITY
    const slow: PostgresPool = {
      async query(statement) {
        // It asks again only when the other process has ended the call.
        if (pool.sent.length > opening) await ended.promise
        return await pool.query(statement)
      },
    }
    const late = await createPostgresLog({ pool: slow, schema, maxWaitMs: 120_000 })
    opening = pool.sent.length
    pool.loseReplies()
    const starting = late.start(row, relaxed)
    await expect.poll(() => other.recover({ nowMs: 6 }), { interval: 1 }).toBe(1)
    ended.resolve()
    await expect(starting).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'taken-over' },
      effect: undefined,
    })
  })

  it('has finished the call, and a finish by another process stays fenced', async () => {
    const row = call()
    await log.start(row, relaxed)
    expect(await losing(() => log.finish(row.callToken, succeeded))).toBe('ok')
    const late = { ...succeeded, finishedAtMs: 9 }
    expect(await losing(() => log.finish(row.callToken, late))).toBe('fenced')
    expect(await log.list({})).toMatchObject([succeeded])
  })

  it('counts a recovered call once', async () => {
    await log.start(call({ leaseExpiresAtMs: 5, ownerId: 'elsewhere:1:1' }), relaxed)
    pool.sent.length = 0
    // The first statement looks for them, the second one marks them.
    pool.loseReplies(1, 1)
    expect(await log.recover({ nowMs: 6 })).toBe(1)
    expect(pool.sent.length).toBeGreaterThan(2)
    expect(await log.recover({ nowMs: 7 })).toBe(0)
  })

  it('has recorded the request for approval and its decision', async () => {
    expect(await losing(() => log.approvals.request(asked))).toEqual(asked)
    const decision = { status: 'approved', decidedBy: 'Ada', decidedAtMs: 2 } as const
    expect(await losing(() => log.approvals.update('q', 'pending', decision))).toBe(true)
    const other = { ...decision, decidedBy: 'Bob' }
    expect(await losing(() => log.approvals.update('q', 'pending', other))).toBe(false)
    expect(await log.approvals.list({})).toEqual([{ ...asked, ...decision }])
  })

  it('has stored the value of a run, and refuses that of a later writer', async () => {
    const entry = { runId: 'run', key: 'plan', valueJson: '1', updatedAtMs: 1 }
    for (const version of [1, 2]) {
      expect(await losing(() => log.state.set({ ...entry, version }))).toBe(true)
      expect(await losing(() => log.state.set({ ...entry, version, valueJson: '2' }))).toBe(false)
    }
    expect(await log.state.get('run', 'plan')).toEqual({ ...entry, version: 2 })
  })

  it('holds the run that it has created or taken over', async () => {
    expect(await losing(() => log.runs.claim(claim))).toMatchObject({ ok: true, created: true })
    const second = { ...claim, leaseToken: 'two', nowMs: 100, leaseExpiresAtMs: 200 }
    expect(await losing(() => log.runs.claim({ ...second, nowMs: 50 }))).toMatchObject({
      ok: false,
    })
    pool.sent.length = 0
    pool.loseReplies(1, 1)
    expect(await log.runs.claim(second)).toMatchObject({
      ok: true,
      created: false,
      run: { leaseToken: 'two' },
    })
    expect(pool.sent.length).toBeGreaterThan(2)
  })

  it('has written to the run that it holds once', async () => {
    await log.runs.claim(claim)
    expect(await losing(() => log.runs.renew('run', 'one', 500))).toBe('ok')
    expect(await losing(() => log.runs.nameWorkflow('run', 'one', 'bills'))).toBe('ok')
    for (const nodeId of ['n', 'm']) {
      expect(await losing(() => log.runs.startAttempt({ ...started, nodeId }))).toBe('ok')
      expect(await losing(() => log.runs.finishAttempt({ ...finished, nodeId }))).toBe('ok')
    }
    const loop = { runId: 'run', loopId: 'l', iteration: 1, finished: false }
    expect(await losing(() => log.runs.saveLoop(loop, 'one'))).toBe('ok')
    expect(await losing(() => log.runs.release(end))).toBe('ok')
    expect(await losing(() => log.runs.release({ ...end, nowMs: 4 }))).toBe('lost')
    const tasks = await log.runs.tasks('run')
    expect(tasks.map(({ nodeId, finishOrder }) => [nodeId, finishOrder])).toEqual([
      ['n', 1],
      ['m', 2],
    ])
    expect(await log.runs.attempts('run')).toHaveLength(2)
    expect(await log.runs.list({})).toMatchObject([
      { status: 'finished', workflow: 'bills', finishedAtMs: 3 },
    ])
  })

  it('does the same when the statement itself was lost', async () => {
    const row = call({ idempotencyKey: 'k' })
    pool.loseStatements(2)
    expect(await log.start(row, once)).toEqual({ ok: true })
    pool.loseStatements(2)
    expect(await log.finish(row.callToken, succeeded)).toBe('ok')
    expect(await log.list({})).toMatchObject([succeeded])
  })

  it('gives up after maxWaitMs, does not say that nothing was stored, and leaves the outcome unknown', async () => {
    const impatient = await createPostgresLog({ pool, schema, maxWaitMs: 50 })
    const row = call({ idempotencyKey: 'k', leaseExpiresAtMs: 5, ownerId: 'elsewhere:1:1' })
    pool.loseReplies(Infinity)
    await expect(impatient.start(row, once)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'no-connection' },
      effect: undefined,
    })
    pool.loseReplies(0)
    expect(await log.recover({ nowMs: 6 })).toBe(1)
    expect(await log.list({})).toMatchObject([{ status: 'error', effect: 'unknown' }])
  })
})
