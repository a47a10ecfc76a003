import type { ToolCallCursor, ToolCallQuery } from '@smithers/tool-core/log'
import { createPostgresLog, type PostgresStatement } from '@smithers/log-postgres'
import { beforeAll, expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const schema = newSchema()
const firstMs = 1_700_000_000_000

/** 20 000 calls of 200 runs, written in turn; every hundredth still runs. */
async function fill(): Promise<void> {
  await admin()
    .query(`INSERT INTO ${schema}._smithers_tool_calls (run_id, node_id, iteration, attempt, seq, tool_name,
      input_json, started_at_ms, finished_at_ms, status, call_token, tool_call_id, idempotency_key, key_use, claim, effect)
    SELECT 'run-' || i % 200, 'node-' || i % 4, 0, 1, i, 'charge', '{}', ${firstMs} + i,
      CASE WHEN i % 100 = 0 THEN NULL ELSE ${firstMs} + i + 5 END,
      CASE WHEN i % 100 = 0 THEN 'started' ELSE 'success' END,
      'token-' || i, 'call-' || i, 'key-' || i, 0, CASE WHEN i % 2 = 0 THEN 'once' ELSE 'inflight' END, 'applied'
    FROM generate_series(1, 20000) AS i;
    ANALYZE ${schema}._smithers_tool_calls`)
}

/** The statements that a method sends, with what the server would do, whatever the values are. */
async function plansOf(
  act: (log: Awaited<ReturnType<typeof openLog>>) => unknown,
): Promise<string[]> {
  const sent: PostgresStatement[] = []
  const log = await createPostgresLog({
    schema,
    prepare: false,
    pool: { query: (statement) => (sent.push(statement), admin().query(statement)) },
  })
  sent.length = 0
  await act(log)
  const plans: string[] = []
  for (const { text, values = [] } of sent) {
    const client = await admin().connect()
    try {
      await client.query('BEGIN')
      const { rows } = await client.query(`EXPLAIN (COSTS OFF) ${text}`, [...values])
      plans.push(rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n'))
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
  return plans
}

/** What reads a whole table. The values of a batch and small tables of other things may be read whole. */
const wholeTable = /Seq Scan on _smithers_tool_calls/

describeWithServer('an index answers', () => {
  beforeAll(async () => {
    const log = await openLog(schema)
    await log.close()
    await fill()
  })

  const after: ToolCallCursor = {
    attempt: 1,
    seq: 9000,
    startedAtMs: firstMs + 9000,
    callToken: 'token-9000',
  }
  const task = { runId: 'run-7', nodeId: 'node-3', iteration: 0 }
  const listings: readonly (readonly [string, ToolCallQuery, string])[] = [
    ['a page of all calls', { limit: 50 }, 'time'],
    ['a later page of all calls', { limit: 50, after }, 'time'],
    ['the newest calls', { limit: 50, order: 'descending' }, 'time'],
    [
      'calls of some minutes',
      { startedFromMs: firstMs + 100, startedBeforeMs: firstMs + 200 },
      'time',
    ],
    ['a page of a run', { runId: 'run-7', limit: 50 }, 'run_time'],
    ['a later page of a run', { runId: 'run-7', limit: 20, after }, 'run_time'],
    ['a page of a task', { ...task, limit: 50 }, 'pkey'],
    ['the last call of a task', { ...task, order: 'descending', limit: 1 }, 'pkey'],
    ['calls of a key', { idempotencyKey: 'key-77' }, 'key'],
    ['one call', { callToken: 'token-77' }, 'call_token'],
    ['calls of an approval', { approvalId: 'a' }, 'approvals'],
  ]
  it.each(listings)('for %s', async (_, query, index) => {
    const [plan = ''] = await plansOf((log) => log.list(query))
    expect(plan).toMatch(new RegExp(`_smithers_tool_calls_${index}\\b`))
    expect(plan).not.toMatch(wholeTable)
    // The calls of one task are few enough to be sorted.
    if (query.limit !== undefined && index !== 'pkey') expect(plan).not.toContain('Sort')
  })

  it('for the start of a call with a claim, its end, its lease and a conflict', async () => {
    const claim = { durability: 'relaxed', claim: 'once' } as const
    const started = call({ runId: 'new', idempotencyKey: 'new', seq: 1 })
    const refused = call({ runId: 'new', idempotencyKey: 'key-78', seq: 2 })
    const plans = [
      ...(await plansOf((log) => log.start(started, claim))),
      ...(await plansOf((log) => log.start(refused, claim))),
      ...(await plansOf((log) => log.renew('token-100', 5))),
      ...(await plansOf((log) => log.finish('token-100', succeeded))),
    ]
    expect(plans).toHaveLength(5)
    for (const plan of plans) expect(plan).not.toMatch(wholeTable)
    expect(plans[0]).toContain('_smithers_tool_calls_key')
    // Each month of the archive would have one of its own.
    expect(plans[0]).not.toContain('One-Time Filter')
    expect(plans[2]).toMatch(/_smithers_tool_calls_(key|inflight|once)/)
  })

  it('for orphans, and for the oldest calls that a prune removes', async () => {
    const [orphans = ''] = await plansOf((log) => log.recover({ nowMs: 0 }))
    expect(orphans).toContain('_smithers_tool_calls_running')
    const prune = await plansOf((log) => log.prune({ finishedBeforeMs: firstMs }))
    expect(prune[0]).toContain('_smithers_tool_calls_time')
    expect(prune[0]).not.toMatch(wholeTable)
    // Without an end it would go on through all calls that stay.
    expect(prune[0]).toMatch(/Index Cond: .*started_at_ms <= /)
    expect(prune[1]).toContain('_smithers_tool_calls_backward')
  })

  it('and the control finds a table that is read whole', async () => {
    const [plan] = await plansOf((log) => log.list({ toolCallId: 'call-77' }))
    expect(plan).toMatch(wholeTable)
  })
})
