import { createPostgresLog, migrate } from '@smithers/log-postgres'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { documentedTable, insertDocumented } from './fixtures/postgres-conformance.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: null } as const
const documented = ['old', 'node', 0, 1, 1, 'read', '{}', '"text"', 1, 2, 'success', null]

async function tableOf(schema: string, definition: string): Promise<void> {
  await admin().query(`CREATE SCHEMA IF NOT EXISTS ${schema}; ${definition}`)
}

/** Everything about a schema that a migration could change. */
async function shapeOf(schema: string): Promise<unknown[]> {
  const { rows } = await admin().query<{ shape: string }>(
    `SELECT relname || ' ' || relkind::text || ' ' || coalesce((SELECT string_agg(attname, ',' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0), '') AS shape
      FROM pg_class WHERE relnamespace = to_regnamespace($1) ORDER BY relname`,
    [schema],
  )
  return rows
}

describeWithServer('createPostgresLog, on tables that are there', () => {
  it('opens a schema of its own version without a change', async () => {
    const schema = newSchema()
    await (await openLog(schema)).close()
    const before = await shapeOf(schema)
    expect(before.length).toBeGreaterThan(8)
    await (await openLog(schema)).close()
    expect(await shapeOf(schema)).toEqual(before)
    const { rows } = await admin().query(`SELECT version FROM ${schema}._smithers_schema_versions`)
    expect(rows).toEqual([{ version: 2 }])
  })

  it('migrates once when many open or migrate the schema at the same moment', async () => {
    const schema = newSchema()
    const logs = await Promise.all(Array.from({ length: 6 }, () => openLog(schema)))
    const versions = await Promise.all([
      migrate({ pool: admin(), schema }),
      migrate({ pool: admin(), schema }),
    ])
    expect(versions).toEqual([2, 2])
    for (const [index, log] of logs.entries()) {
      expect(await log.start(call({ seq: index }), relaxed)).toEqual({ ok: true })
      await log.close()
    }
  })

  it('keeps working with a program that still writes the twelve documented columns', async () => {
    const schema = newSchema()
    await tableOf(schema, documentedTable(schema))
    const insert = (seq: number): Promise<unknown> =>
      admin().query(insertDocumented(schema), documented.with(4, seq))
    await insert(1)
    const log = await openLog(schema)
    await insert(2)
    await insert(3)
    const rows = await log.list({ runId: 'old' })
    expect(rows.map(({ seq, sideEffect }) => [seq, sideEffect])).toEqual([
      [1, false],
      [2, false],
      [3, false],
    ])
    expect(new Set(rows.map(({ callToken }) => callToken)).size).toBe(3)
    await log.close()
  })

  it('keeps the position of a call unique in a table that has no key for it', async () => {
    const schema = newSchema()
    await tableOf(schema, documentedTable(schema).replace(/,\s*PRIMARY KEY \(.*?\)/, ''))
    const log = await openLog(schema)
    expect(await log.start(call(), relaxed)).toEqual({ ok: true })
    expect(await log.start(call(), relaxed)).toEqual({ ok: false, reason: 'seq-taken' })
    await log.close()
  })

  it('changes nothing when a migration fails half way', async () => {
    const schema = newSchema()
    await tableOf(schema, documentedTable(schema).replace(/,\s*PRIMARY KEY \(.*?\)/, ''))
    for (let row = 0; row < 2; row += 1) await admin().query(insertDocumented(schema), documented)
    const before = await shapeOf(schema)
    await expect(openLog(schema)).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
    expect(await shapeOf(schema)).toEqual(before)
  })

  it('leaves a table of the same name alone that is something else', async () => {
    const schema = newSchema()
    await tableOf(schema, `CREATE TABLE ${schema}._smithers_tool_calls (id integer)`)
    const before = await shapeOf(schema)
    await expect(openLog(schema)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'foreign-table' },
    })
    expect(await shapeOf(schema)).toEqual(before)
  })

  it('takes any name for a schema', async () => {
    const schema = `We "quote"; 'it' ${newSchema().slice(0, 12)}`
    const log = await openLog(schema)
    const row = call()
    await log.start(row, relaxed)
    expect(await log.finish(row.callToken, succeeded)).toBe('ok')
    expect(await log.recover({ nowMs: 0 })).toBe(0)
    expect(await log.prune({ maxRows: 0 })).toBe(1)
    await log.close()
  })

  it('leaves a pool that was handed over open, and refuses to go on after close', async () => {
    const log = await createPostgresLog({ pool: admin(), schema: newSchema() })
    await log.close()
    await expect(Promise.resolve(log.list({}))).rejects.toMatchObject({
      details: { reason: 'closed' },
    })
    expect((await admin().query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })
})
