import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { databaseStatus, type PostgresLog } from '@smithers/log-postgres'
import { archiveKey } from '@smithers/tool-core/log'
import type { StartRow, ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const program = fileURLToPath(new URL('./fixtures/programs/archive-and-die.ts', import.meta.url))
const relaxed = { durability: 'relaxed', claim: null } as const
const once = { durability: 'relaxed', claim: 'once' } as const
const october = Date.UTC(2025, 9, 31, 23, 59)
const november = Date.UTC(2025, 10, 1)

async function ended(log: PostgresLog, fields: Partial<StartRow>): Promise<StartRow> {
  const row = call({ startedAtMs: october, ...fields })
  const options = row.idempotencyKey === null ? relaxed : once
  expect(await log.start(row, options)).toEqual({ ok: true })
  const finishedAtMs = row.startedAtMs + 1
  expect(await log.finish(row.callToken, { ...succeeded, finishedAtMs })).toBe('ok')
  return row
}

async function rowsIn(schema: string, table: string): Promise<number> {
  const text = `SELECT count(*) AS rows FROM ${schema}._smithers_${table}`
  return Number((await admin().query<{ rows: string }>(text)).rows[0]?.rows)
}

/** Runs of some calls each, of two months, one after another in time. */
async function fill(log: PostgresLog, runs: number, calls: number): Promise<void> {
  for (let seq = 1; seq <= calls; seq += 1) {
    await Promise.all(
      Array.from({ length: runs }, (_, run) =>
        ended(log, {
          runId: `run-${run}`,
          seq,
          startedAtMs: october + seq * 20_000 + run,
          idempotencyKey: `key-${run}-${seq}`,
        }),
      ),
    )
  }
}

describeWithServer('archive', () => {
  it('moves runs that have ended by the month of their calls, and lists them as before', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    await fill(log, 3, 6)
    const recent = await ended(log, { runId: 'recent', startedAtMs: Date.now() })
    const queries: ToolCallQuery[] = [
      {},
      { runId: 'run-1' },
      { runId: 'run-1', nodeId: 'node', iteration: 0, order: 'descending', limit: 2 },
      { runId: 'run-1', idempotencyKey: 'key-1-2' },
      { idempotencyKey: 'key-2-2' },
      { callToken: recent.callToken },
      { startedBeforeMs: november, limit: 4 },
      { startedFromMs: november, order: 'descending', limit: 5 },
      { order: 'descending', limit: 3 },
      { toolName: 'charge', status: 'success' },
      { runId: 'unknown' },
    ]
    const answers = async (): Promise<ToolCallRow[][]> =>
      Promise.all(queries.map(async (query) => log.list(query)))
    const before = await answers()
    expect(before.map((rows) => rows.length)).toEqual([19, 6, 2, 1, 1, 1, 4, 5, 3, 19, 0])
    const found = await log.listRuns({ runId: 'run-1' })

    expect(await log.archive()).toEqual({ runs: 3, calls: 18, isBusy: false })
    expect(await rowsIn(schema, 'tool_calls')).toBe(1)
    expect(await answers()).toEqual(before)
    expect(await log.listRuns({ runId: 'run-1' })).toEqual(found)
    const page = await log.list({ limit: 4 })
    const after = page.at(-1) as ToolCallRow
    expect(await log.list({ after })).toEqual(before[0]?.slice(4))

    const { archivePartitions } = await databaseStatus({ pool: admin(), schema })
    expect(archivePartitions.map(({ name, rows }) => [name, rows])).toEqual([
      ['_smithers_tool_calls_archive_2025_10', 6],
      ['_smithers_tool_calls_archive_2025_11', 12],
    ])
    expect(archivePartitions.map(({ beforeMs }) => beforeMs)).toEqual([
      november,
      Date.UTC(2025, 11),
    ])
    expect(await log.archive()).toEqual({ runs: 0, calls: 0, isBusy: false })
    await log.close()
  })

  it('leaves runs that may go on: running, young, open, held, failed, stopped, queued, waiting, and with an approval to decide', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    const left = ['failed', 'stopped', 'queued', 'waiting'] as const
    for (const runId of ['running', 'young', 'open', 'held', ...left, 'asked', 'old']) {
      await ended(log, { runId })
    }
    await log.start(call({ runId: 'running', seq: 2, startedAtMs: october }), relaxed)
    await ended(log, { runId: 'young', seq: 2, startedAtMs: Date.now() })
    const claim = { inputJson: null, optionsJson: '{}', ownerId: 'elsewhere:1:1', nowMs: october }
    for (const runId of ['open', 'held', ...left, 'old']) {
      await log.runs.claim({ ...claim, runId, leaseToken: runId, leaseExpiresAtMs: october })
    }
    const end = { errorJson: null, nowMs: october }
    for (const [runId, status] of [
      ['held', 'failed'],
      ...left.map((name) => [name, name] as const),
      ['old', 'finished'],
    ] as const) {
      expect(await log.runs.release({ ...end, runId, status, leaseToken: runId })).toBe('ok')
    }
    await log.runs.claim({ ...claim, runId: 'held', leaseToken: 'new', leaseExpiresAtMs: 9e15 })
    await admin()
      .query(`INSERT INTO ${schema}._smithers_tool_approvals (id, run_id, node_id, iteration, attempt,
      tool_name, tool_call_id, call_key, input_hash, status, requested_at_ms)
      VALUES ('a', 'asked', 'n', 0, 1, 't', 'c', 'k', 'h', 'pending', 1)`)
    expect(await log.archive()).toEqual({ runs: 1, calls: 1, isBusy: false })
    const rows = await admin().query(`SELECT run_id FROM ${schema}._smithers_archived_runs`)
    expect(rows.rows).toEqual([{ run_id: 'old' }])
    await expect(log.archive({ beforeMs: log.now() - 1000 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await log.close()
  })

  it('keeps the key of an archived call used, for every run', async () => {
    const log = await openLog(newSchema())
    const first = await ended(log, { runId: 'a', idempotencyKey: 'order-1' })
    expect(await log.archive()).toMatchObject({ calls: 1 })
    const again = call({ runId: 'b', idempotencyKey: 'order-1' })
    const taken = { ok: false, reason: 'claimed', existing: { callToken: first.callToken } }
    expect(await log.start(again, once)).toMatchObject(taken)
    // A caller that knows the calls of its own run alone has missed this one.
    const inflight = { durability: 'relaxed', claim: 'inflight', known: [] } as const
    expect(await log.start(again, inflight)).toMatchObject(taken)
    expect(await log.start(again, { ...inflight, known: [first.callToken] })).toEqual({ ok: true })
    await log.close()
  })

  it('moves a run back with its first new call, whose place and key are then judged', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    await fill(log, 2, 3)
    const before = await log.list({ runId: 'run-0' })
    await log.archive()
    expect(await log.start(call({ runId: 'run-0', seq: 2 }), relaxed)).toEqual({
      ok: false,
      reason: 'seq-taken',
    })
    expect(await rowsIn(schema, 'tool_calls')).toBe(3)
    const next = call({ runId: 'run-0', seq: 4, startedAtMs: Date.now() })
    const both = await Promise.all([
      log.start(next, relaxed),
      log.start(call({ runId: 'run-1', seq: 4, startedAtMs: Date.now() }), relaxed),
    ])
    expect(both).toEqual([{ ok: true }, { ok: true }])
    expect(await rowsIn(schema, 'tool_calls_archive')).toBe(0)
    const rows = await log.list({ runId: 'run-0' })
    expect(rows.slice(0, 3)).toEqual(before)
    expect(rows[3]).toMatchObject({ callToken: next.callToken })
    // It goes back once it has ended again.
    await log.finish(next.callToken, { ...succeeded, finishedAtMs: october })
    expect(await log.archive()).toMatchObject({ runs: 0 })
    await log.close()
  })

  it('loses no call and doubles none when processes that archive at once are killed in the middle', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    await fill(log, 90, 4)
    const before = await log.list({ limit: Infinity })
    let killed = 0
    for (let dieAt = 1; dieAt <= 3; dieAt += 1) {
      const signals = await Promise.all([archive(schema, dieAt), archive(schema, dieAt)])
      killed += signals.filter((signal) => signal === 'SIGKILL').length
      expect(await log.list({ limit: Infinity })).toEqual(before)
    }
    expect(killed).toBeGreaterThan(0)
    const sum = await Promise.all([log.archive(), log.archive()])
    expect(sum.some(({ isBusy }) => !isBusy)).toBe(true)
    expect(await rowsIn(schema, 'tool_calls')).toBe(0)
    expect(await rowsIn(schema, 'tool_calls_archive')).toBe(before.length)
    expect(await log.list({ limit: Infinity })).toEqual(before)
    await log.close()
  })

  it('moves a run back once when several processes add to it while others archive', async () => {
    const schema = newSchema()
    const logs = await Promise.all([openLog(schema), openLog(schema), openLog(schema)])
    const [log] = logs
    await fill(log, 10, 5)
    const work = Array.from({ length: 60 }, async (_, index) => {
      const own = logs[index % 3] as PostgresLog
      if (index % 6 === 0) await own.archive()
      else await ended(own, { runId: `run-${index % 10}`, seq: 100 + index, startedAtMs: october })
    })
    await Promise.all(work)
    const rows = await log.list({ limit: Infinity })
    expect(rows).toHaveLength(100)
    expect(new Set(rows.map(({ callToken }) => callToken)).size).toBe(100)
    for (const one of logs) await one.close()
  })
})

describeWithServer('dropArchived', () => {
  it('drops the months that have ended, and what belonged to runs of which no call is left', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    const old = await ended(log, { runId: 'old' })
    await ended(log, { runId: 'both', seq: 1 })
    await ended(log, { runId: 'both', seq: 2, startedAtMs: november })
    for (const runId of ['old', 'both']) {
      const key = archiveKey(old.callToken)
      await log.state.set({ runId, key, version: 1, valueJson: '1', updatedAtMs: 1 })
    }
    await log.archive()
    expect(await log.dropArchived({ beforeMs: november - 1 })).toEqual({ partitions: [], runs: 0 })
    expect(await log.dropArchived({ beforeMs: november })).toEqual({
      partitions: ['_smithers_tool_calls_archive_2025_10'],
      runs: 1,
    })
    expect((await log.list({})).map(({ runId, seq }) => [runId, seq])).toEqual([['both', 2]])
    expect(await rowsIn(schema, 'run_state')).toBe(1)
    expect(await log.dropArchived({ beforeMs: Date.now() })).toMatchObject({ runs: 1 })
    expect(await log.list({})).toEqual([])
    expect(await rowsIn(schema, 'run_state')).toBe(0)
    await log.close()
  })

  it('leaves to prune what it asks for: a named run goes from the archive too, and no belonging before its call', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    for (const runId of ['a', 'b']) {
      const { callToken } = await ended(log, { runId })
      const key = archiveKey(callToken)
      await log.state.set({ runId, key, version: 1, valueJson: '1', updatedAtMs: 1 })
    }
    await log.archive()
    expect(await log.prune({ finishedBeforeMs: Date.now() })).toBe(0)
    expect(await rowsIn(schema, 'run_state')).toBe(2)
    expect(await log.prune({ runs: ['a'] })).toBe(1)
    expect((await log.list({})).map(({ runId }) => runId)).toEqual(['b'])
    expect(await rowsIn(schema, 'run_state')).toBe(1)
    await log.close()
  })
})

function archive(schema: string, dieAt: number): Promise<string | null> {
  const node = ['--conditions=@smithers/source', program, schema, String(dieAt)]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, node, (error, _, stderr) => {
      if (error !== null && error.signal !== 'SIGKILL') reject(new Error(stderr, { cause: error }))
      else resolve(error?.signal ?? null)
    })
  })
}
