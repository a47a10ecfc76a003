import {
  createPostgresLog,
  type PostgresLogSettings,
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
      expect(text).not.toMatch(
        /\b(LISTEN|NOTIFY|PREPARE|DECLARE|TEMP|SET SESSION|BEGIN)\b(?! IF| EXECUTE)/,
      )
      expect(text).not.toMatch(/pg_(try_)?advisory_(?!xact)/)
    }
  })

  it('gives statements that are sent often a name of their own, and none when it is told so', async () => {
    const sentBy = async (settings: PostgresLogSettings): Promise<PostgresStatement[]> => {
      const sent: PostgresStatement[] = []
      const schema = newSchema()
      const query: PostgresPool['query'] = (statement) => (
        sent.push(statement),
        admin().query(statement)
      )
      const log = await createPostgresLog({ pool: { query }, schema, ...settings })
      for (let seq = 1; seq <= 3; seq += 1) {
        const row = call({ seq })
        expect(await log.start(row, once)).toEqual({ ok: true })
        expect(await log.finish(row.callToken, succeeded)).toBe('ok')
      }
      expect(await log.list({})).toHaveLength(3)
      return sent.filter(({ name }) => name !== undefined)
    }
    const named = await sentBy({})
    expect(named).toHaveLength(6)
    expect(new Set(named.map(({ name }) => name)).size).toBe(2)
    expect(new Set(named.map(({ text }) => text)).size).toBe(2)
    expect(await sentBy({ prepare: false })).toEqual([])
  })

  it.each([
    ['does not know the name', 'DEALLOCATE ALL', '26000'],
    ['has the name from another client', undefined, '42P05'],
  ])('goes on without names when a connection %s', async (_, forget, refusal) => {
    const schema = newSchema()
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: serverUrl() })
      await client.connect()
      return client
    }
    const client = await connect()
    const refusals: unknown[] = []
    const sent: PostgresStatement[] = []
    const log = await createPostgresLog({
      schema,
      pool: {
        async query(statement) {
          sent.push(statement)
          try {
            return await client.query(statement)
          } catch (error) {
            refusals.push((error as { code?: unknown }).code)
            throw error
          }
        },
      },
    })
    const first = call({ seq: 1 })
    if (forget === undefined) {
      // Makes the name known behind the back of the client, as another client of a pooler does.
      const other = await createPostgresLog({
        schema,
        pool: {
          query: ({ name, text, values }) =>
            name === undefined
              ? client.query({ text, values: values ?? [] })
              : client.query(`PREPARE ${name} AS SELECT 1`).then(() => ({ rows: [], rowCount: 0 })),
        },
      })
      await Promise.resolve(other.renew('unknown', 1))
      expect(await log.renew('unknown', 1)).toBe(false)
    } else {
      expect(await log.start(first, once)).toEqual({ ok: true })
      await client.query(forget)
    }
    const second = call({ seq: 2 })
    expect(await log.start(second, once)).toEqual({ ok: true })
    expect(await log.finish(second.callToken, succeeded)).toBe('ok')
    expect(refusals).toEqual([refusal])
    expect(sent.slice(-2).some((statement) => 'name' in statement)).toBe(false)
    expect((await log.list({ callToken: second.callToken })).map(({ status }) => status)).toEqual([
      'success',
    ])
    await client.end()
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

  it('starts the calls that come while four statements have no answer with one statement', async () => {
    const sent: PostgresStatement[] = []
    const answers = Promise.withResolvers<void>()
    let holds = false
    const log = await createPostgresLog({
      schema: newSchema(),
      pool: {
        async query(statement) {
          sent.push(statement)
          if (holds) await answers.promise
          return await admin().query(statement)
        },
      },
    })
    sent.length = 0
    holds = true
    const starting: unknown[] = []
    for (let seq = 1; seq <= 20; seq += 1) {
      starting.push(log.start(call({ seq }), seq % 2 === 0 ? once : relaxed))
      await new Promise(setImmediate)
    }
    expect(sent).toHaveLength(4)
    answers.resolve()
    expect(await Promise.all(starting)).toEqual(starting.map(() => ({ ok: true })))
    // One for each way to commit.
    expect(sent).toHaveLength(6)
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
