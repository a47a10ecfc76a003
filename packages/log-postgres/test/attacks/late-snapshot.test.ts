import type { PostgresLog } from '@smithers/log-postgres'
import type { StartResult } from '@smithers/tool-core/log'
import pg from 'pg'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from '../fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from '../fixtures/test-database.ts'

const key = 'charge order 7'
const knowsNone = { durability: 'relaxed', claim: 'inflight', known: [] } as const

/**
 * The start of a call takes its view of the table and is then held up until an equal call has begun and ended: at
 * READ COMMITTED no look at the table and no claim in flight tells it so any more.
 */
async function heldUp(schema: string, log: PostgresLog): Promise<StartResult> {
  await admin().query(`
    CREATE FUNCTION ${schema}.hold_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF new.call_token = 'late' THEN PERFORM pg_advisory_xact_lock_shared(hashtext('${schema}')); END IF;
      RETURN new; END $$;
    CREATE TRIGGER hold_up BEFORE INSERT ON ${schema}._smithers_tool_calls
      FOR EACH ROW EXECUTE FUNCTION ${schema}.hold_up()`)
  const holder = new pg.Client({ connectionString: serverUrl() })
  await holder.connect()
  await holder.query(`SELECT pg_advisory_lock(hashtext('${schema}'))`)
  const late = log.start(
    call({ callToken: 'late', idempotencyKey: key, nodeId: 'late' }),
    knowsNone,
  )
  await expect.poll(() => waiting(schema), { interval: 5 }).toBe(1)

  const first = call({ idempotencyKey: key })
  expect(await log.start(first, knowsNone)).toEqual({ ok: true })
  expect(await log.finish(first.callToken, succeeded)).toBe('ok')
  await holder.end()
  return await late
}

/** Of this schema alone: other files use the same server. */
async function waiting(schema: string): Promise<number> {
  const { rows } = await admin().query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND (classid::bigint << 32) | objid::bigint = hashtext('${schema}')::bigint`,
  )
  return rows.length
}

describeWithServer('a start whose view of the table is older than an equal call', () => {
  it('is told of that call and runs nothing', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    expect(await heldUp(schema, log)).toMatchObject({ ok: false, reason: 'claimed' })
    expect(await log.list({ idempotencyKey: key })).toHaveLength(1)
    await log.close()
  })

  it('runs a second time where uses of a key have no number, as a control', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    await admin().query(`DROP INDEX ${schema}._smithers_tool_calls_key`)
    expect(await heldUp(schema, log)).toEqual({ ok: true })
    expect(await log.list({ idempotencyKey: key })).toHaveLength(2)
    await log.close()
  })
})
