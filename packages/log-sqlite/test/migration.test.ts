import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun } from '@smithers/tool-core'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { call, succeeded } from './fixtures/call.ts'
import { documentedTable, insertDocumented } from './fixtures/sqlite-conformance.ts'

const documentedRow = {
  runId: 'old',
  nodeId: 'node',
  iteration: 0,
  attempt: 1,
  seq: 1,
  toolName: 'read',
  inputJson: '{}',
  outputJson: '"text"',
  startedAtMs: 1,
  finishedAtMs: 2,
  status: 'success',
  errorJson: null,
}

describe('createSqliteLog', () => {
  it('keeps working with a program that still writes the twelve documented columns', () => {
    const database = new Database(':memory:')
    database.exec(documentedTable)
    const insert = database.prepare(insertDocumented)
    insert.run({ ...documentedRow, seq: 1 })
    const log = createSqliteLog({ database })
    insert.run({ ...documentedRow, seq: 2 })
    insert.run({ ...documentedRow, seq: 3 })

    const rows = [...list(log, {}), ...list(log, { runId: 'old', nodeId: 'node', iteration: 0 })]
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 1, 2, 3])
    expect(new Set(rows.map((row) => row.callToken)).size).toBe(3)
    // The times are equal: only tokens can place the cursor.
    const [first, second] = list(log, {})
    expect(list(log, { after: first!, limit: 1 })).toEqual([second])
  })

  it('warns of a call that another program began and did not finish', async () => {
    const database = new Database(':memory:')
    database.exec(documentedTable)
    const insert = database.prepare(insertDocumented)
    const unfinished = { outputJson: null, finishedAtMs: null, status: 'started' }
    const inputJson = '{"to":"ann"}'
    insert.run({ ...documentedRow, toolName: 'pay', inputJson, ...unfinished })
    insert.run({ ...documentedRow, seq: 2 })
    const log = createSqliteLog({ database })
    const { retryWarning } = createToolRun({ runId: 'old', nodeId: 'node', attempt: 2, log })
    const lines = (await retryWarning())?.split('\n').filter((line) => line.startsWith('- '))
    expect(lines).toEqual([
      '- pay {"to":"ann"} · 1970-01-01T00:00:00.001Z · UNKNOWN: still running, or its worker ended · key none',
    ])
  })

  it('enforces the position of a row in a table that has no key for it', () => {
    const database = new Database(':memory:')
    database.exec(documentedTable.replace(/,\s*PRIMARY KEY \(.*\)/, ''))
    const log = createSqliteLog({ database })
    const options = { durability: 'relaxed', claim: null } as const
    expect(log.start(call(), options)).toEqual({ ok: true })
    expect(log.start(call(), options)).toEqual({ ok: false, reason: 'seq-taken' })
  })

  it('changes nothing when a migration fails half way', () => {
    const database = new Database(':memory:')
    database.exec(documentedTable.replace(/,\s*PRIMARY KEY \(.*\)/, ''))
    const insert = database.prepare(insertDocumented)
    insert.run(documentedRow)
    insert.run(documentedRow)
    const before = database.prepare('SELECT sql FROM sqlite_schema').all()
    expect(() => createSqliteLog({ database })).toThrow('UNIQUE constraint failed')
    expect(database.prepare('SELECT sql FROM sqlite_schema').all()).toEqual(before)
    expect(database.inTransaction).toBe(false)
  })

  it('adds what an older version of this package lacked, and keeps its rows', () => {
    const database = new Database(':memory:')
    const newest = createSqliteLog({ database })
    const options = { durability: 'relaxed', claim: null } as const
    const old = call()
    newest.start(old, options)
    newest.finish(old.callToken, succeeded)
    for (const column of ['output_exact', 'effect_scope', 'network_json']) {
      database.exec(`ALTER TABLE _smithers_tool_calls DROP COLUMN ${column}`)
    }
    database.exec(`UPDATE _smithers_tool_log_meta SET value = '2' WHERE key = 'schema_version'`)

    const log = createSqliteLog({ database })
    const added = call({ seq: 2, effectScope: 'workspace' })
    expect(log.start(added, options)).toEqual({ ok: true })
    log.finish(added.callToken, { ...succeeded, outputExact: true, networkJson: '{}' })
    const [first, second] = list(log, {})
    expect(first).toMatchObject({ callToken: old.callToken, outputJson: '"ok"' })
    expect(first).not.toHaveProperty('outputExact')
    expect(first).not.toHaveProperty('effectScope')
    expect(first).not.toHaveProperty('networkJson')
    expect(second).toMatchObject({
      outputExact: true,
      effectScope: 'workspace',
      networkJson: '{}',
    })
  })

  it('adds the table of begun attempts, without which no call could start', () => {
    const database = new Database(':memory:')
    createSqliteLog({ database })
    database.exec(`DROP TABLE _smithers_begun_attempts`)
    database.exec(`UPDATE _smithers_tool_log_meta SET value = '5' WHERE key = 'schema_version'`)

    const log = createSqliteLog({ database })
    expect(log.start(call(), { durability: 'relaxed', claim: null })).toEqual({ ok: true })
  })

  it('opens a file of its own version without writing to it', () => {
    const database = new Database(':memory:')
    createSqliteLog({ database })
    const changes = database.prepare('SELECT total_changes() AS count')
    const before = changes.get()
    createSqliteLog({ database })
    expect(changes.get()).toEqual(before)
  })
})

function list(
  log: ReturnType<typeof createSqliteLog>,
  query: Parameters<(typeof log)['list']>[0],
): Awaited<ReturnType<(typeof log)['list']>> {
  const rows = log.list(query)
  if (!Array.isArray(rows)) throw new Error('a SQLite log lists at once')
  return rows
}
