import { createPostgresLog, type PostgresLog } from '@smithers/log-postgres'
import type { StartRow } from '@smithers/tool-core/log'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { call } from '../../log-sqlite/test/fixtures/call.ts'
import { type CarelessPool, carelessPool } from './fixtures/careless-pool.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const once = { durability: 'relaxed', claim: 'once' } as const
const endless = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index))

let schema: string
let pools: pg.Pool[]

/** Connections with settings of their own. */
function careless(options = ''): CarelessPool {
  const pool = new pg.Pool({ connectionString: serverUrl(), max: 2, options })
  pool.on('error', () => {})
  pools.push(pool)
  return carelessPool(pool)
}

/** Starts rows in one turn, and shows that they were one statement. */
async function startTogether(
  log: PostgresLog,
  pool: CarelessPool,
  rows: readonly StartRow[],
): Promise<readonly unknown[]> {
  pool.sent.length = 0
  const settled = await Promise.allSettled(rows.map(async (row) => log.start(row, once)))
  const first = JSON.parse(String(pool.sent[0]?.values?.[0])) as unknown[]
  expect(first).toHaveLength(rows.length)
  return settled.map((result) =>
    result.status === 'fulfilled' ? result.value : (result.reason as unknown),
  )
}

/** Seven calls of one turn, of which one has fields that the server refuses. */
function sevenWith(guilty: Partial<StartRow>): StartRow[] {
  return [1, 2, 3, 4, 5, 6, 7].map((seq) =>
    call({ seq, idempotencyKey: `key-${seq}`, ...(seq === 5 && guilty) }),
  )
}

/** What is stored, and how often a trigger of the table saw it stored. */
async function effects(): Promise<readonly (readonly [seq: number, times: number])[]> {
  const { rows } = await admin().query<{ seq: string; times: string }>(
    `SELECT seq, (SELECT count(*) FROM ${schema}.seen WHERE token = call_token) AS times
      FROM ${schema}._smithers_tool_calls ORDER BY seq`,
  )
  return rows.map(({ seq, times }) => [Number(seq), Number(times)])
}

function refusedWith(reason: string): unknown {
  return expect.objectContaining({
    code: 'TOOL_LOG_UNAVAILABLE',
    details: expect.objectContaining({ reason }) as unknown,
  })
}

const ok = { ok: true }
const stored = [1, 2, 3, 4, 6, 7].map((seq) => [seq, 1])

describeWithServer('a start that the server refuses', () => {
  beforeEach(async () => {
    pools = []
    schema = newSchema()
    await (await openLog(schema)).close()
    await admin().query(`CREATE TABLE ${schema}.seen (token text);
      CREATE FUNCTION ${schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.tool_name = 'forbidden' THEN RAISE 'no such tool here' USING ERRCODE = 'ZZ042'; END IF;
        INSERT INTO ${schema}.seen VALUES (NEW.call_token); RETURN NEW; END $$;
      CREATE TRIGGER see AFTER INSERT ON ${schema}._smithers_tool_calls
        FOR EACH ROW EXECUTE FUNCTION ${schema}.see();
      ALTER TABLE ${schema}._smithers_tool_calls ADD CHECK (tool_call_id <> 'unwanted')`)
  })

  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
  })

  it.each<readonly [string, Partial<StartRow>, string]>([
    ['what a trigger raises', { toolName: 'forbidden' }, 'sqlstate-ZZ042'],
    ['a constraint', { toolCallId: 'unwanted' }, 'sqlstate-23514'],
    ['a number that no column holds', { occurrence: 1.5 }, 'sqlstate-22P02'],
    ['an id that no index holds', { runId: endless.join('') }, 'too-long'],
  ])('fails alone for %s', async (_, guilty, reason) => {
    const pool = careless()
    const log = await createPostgresLog({ pool, schema })
    const answers = await startTogether(log, pool, sevenWith(guilty))
    expect(answers).toEqual([ok, ok, ok, ok, refusedWith(reason), ok, ok])
    expect(await effects()).toEqual(stored)
  })

  it('fails alone for a policy of the table', async () => {
    const role = `r${schema}`
    await admin().query(`CREATE ROLE ${role};
      GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role};
      ALTER TABLE ${schema}._smithers_tool_calls ENABLE ROW LEVEL SECURITY;
      CREATE POLICY reads ON ${schema}._smithers_tool_calls FOR SELECT USING (true);
      CREATE POLICY writes ON ${schema}._smithers_tool_calls FOR INSERT WITH CHECK (tool_name <> 'policed')`)
    const pool = careless(`-c role=${role}`)
    const log = await createPostgresLog({ pool, schema, migrate: false })
    const answers = await startTogether(log, pool, sevenWith({ toolName: 'policed' }))
    expect(answers).toEqual([ok, ok, ok, ok, refusedWith('permission-denied'), ok, ok])
    expect(await effects()).toEqual(stored)
  })

  it('leaves claims to the others, and its key to a later call', async () => {
    const pool = careless()
    const log = await createPostgresLog({ pool, schema })
    const [guilty, first, second] = [
      call({ seq: 1, idempotencyKey: 'k', toolName: 'forbidden' }),
      call({ seq: 2, idempotencyKey: 'l' }),
      call({ seq: 3, idempotencyKey: 'l' }),
    ]
    const answers = await startTogether(log, pool, [guilty, first, second])
    expect(answers).toEqual([
      refusedWith('sqlstate-ZZ042'),
      ok,
      expect.objectContaining({ ok: false, reason: 'claimed' }),
    ])
    expect(await log.start({ ...guilty, toolName: 'allowed' }, once)).toEqual(ok)
    expect(await effects()).toEqual([
      [1, 1],
      [2, 1],
    ])
  })

  it('stores the others once when an answer is lost as well', async () => {
    const pool = careless()
    const log = await createPostgresLog({ pool, schema })
    // The first statement is refused; those that follow are stored and their answers are lost.
    pool.loseReplies(3)
    const answers = await startTogether(log, pool, sevenWith({ toolName: 'forbidden' }))
    expect(answers).toEqual([ok, ok, ok, ok, refusedWith('sqlstate-ZZ042'), ok, ok])
    expect(await effects()).toEqual(stored)
  })

  it('is not looked for when the server refuses everything', async () => {
    const pool = careless('-c default_transaction_read_only=on')
    const log = await createPostgresLog({ pool, schema, migrate: false })
    const answers = await startTogether(log, pool, sevenWith({}))
    expect(answers).toEqual(Array(7).fill(refusedWith('read-only')))
    expect(pool.sent).toHaveLength(1)
    expect(await effects()).toEqual([])
  })
})
