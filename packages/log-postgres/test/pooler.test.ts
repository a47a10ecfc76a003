import {
  createPostgresLog,
  type PostgresPool,
  type PostgresStatement,
} from '@smithers/log-postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: null } as const
const once = { durability: 'fsync', claim: 'once' } as const

/** A pooler at its worst: no two statements share a connection. */
function strangersPool(): PostgresPool & { readonly sent: PostgresStatement[] } {
  const sent: PostgresStatement[] = []
  return {
    sent,
    async query(statement) {
      sent.push(statement)
      const client = new pg.Client({ connectionString: serverUrl() })
      await client.connect()
      try {
        return await client.query(statement)
      } finally {
        await client.end()
      }
    },
  }
}

describeWithServer('createPostgresLog', () => {
  it('works when every statement goes over another connection', async () => {
    const pool = strangersPool()
    const log = await createPostgresLog({ pool, schema: newSchema() })
    const row = call({ idempotencyKey: 'k' })
    expect(await log.start(row, once)).toEqual({ ok: true })
    expect(await log.start(call({ seq: 2, idempotencyKey: 'k' }), once)).toMatchObject({
      ok: false,
    })
    expect(await log.renew(row.callToken, 5)).toBe(true)
    expect(await log.finish(row.callToken, succeeded)).toBe('ok')
    const lease = { ownerId: 'elsewhere:1:1', leaseToken: 'one', leaseExpiresAtMs: 9, nowMs: 1 }
    await log.runs.claim({ runId: 'run', inputJson: null, optionsJson: '{}', ...lease })
    expect(await log.runs.renew('run', 'one', 10)).toBe('ok')
    expect(
      await log.state.set({ runId: 'run', key: 'a', version: 1, valueJson: '1', updatedAtMs: 1 }),
    ).toBe(true)
    expect(await log.recover({ nowMs: 99 })).toBe(0)
    expect(await log.list({})).toMatchObject([succeeded])
    expect(await log.prune({ maxRows: 0, runs: ['run'] })).toBe(1)

    for (const { text } of pool.sent) {
      expect(text).not.toMatch(/\b(LISTEN|NOTIFY|PREPARE|DECLARE|TEMP|SET SESSION|BEGIN)\b(?! IF)/)
      expect(text).not.toMatch(/pg_(try_)?advisory_(?!xact)/)
    }
    expect(pool.sent.filter((statement) => 'name' in statement)).toEqual([])
  })

  it('starts the calls of one turn with one statement', async () => {
    const pool = strangersPool()
    const log = await createPostgresLog({ pool, schema: newSchema() })
    pool.sent.length = 0
    const rows = Array.from({ length: 20 }, (_, index) => call({ seq: index + 1 }))
    await Promise.all(rows.map(async (row) => log.start(row, relaxed)))
    expect(pool.sent).toHaveLength(1)
    expect(await log.list({})).toHaveLength(20)
  })

  const modes = [
    ['auto', ['on', 'off', 'off']],
    ['full', ['on', 'on', 'on']],
    ['relaxed', ['off', 'off', 'off']],
  ] as const
  it.each(modes)(
    'in the mode %s commits an fsync start, a relaxed start and a finish with synchronous_commit = %j, and leaves the connection as it was',
    async (durability, expected) => {
      const schema = newSchema()
      await (await openLog(schema)).close()
      await admin().query(`
        CREATE TABLE ${schema}.seen (ordinal bigint GENERATED ALWAYS AS IDENTITY, mode text);
        CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO ${schema}.seen (mode) VALUES (current_setting('synchronous_commit')); RETURN new; END $$;
        CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${schema}._smithers_tool_calls
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`)
      const client = new pg.Client({ connectionString: serverUrl() })
      await client.connect()
      const log = await createPostgresLog({ pool: client, schema, durability })
      const row = call()
      await log.start(row, { durability: 'fsync', claim: 'inflight' })
      await log.start(call({ seq: 2 }), { durability: 'relaxed', claim: null })
      await log.finish(row.callToken, succeeded)
      const { rows } = await client.query(`SELECT mode FROM ${schema}.seen ORDER BY ordinal`)
      expect(rows.map(({ mode }: { mode: string }) => mode)).toEqual(expected)
      const after = await client.query('SHOW synchronous_commit')
      expect(after.rows).toEqual([{ synchronous_commit: 'on' }])
      await client.end()
    },
  )
})
