import { createPostgresLog, type PostgresLog } from '@smithers/log-postgres'
import { createToolRun, defineTool } from '@smithers/tool-core'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { describeWithServer, missingServer } from './fixtures/test-database.ts'
import { createTestServer, type TestServer } from './fixtures/test-server.ts'

const once = { durability: 'fsync', claim: 'once' } as const

let server: TestServer
const schema = 'away'
beforeAll(async () => {
  if (missingServer === undefined) server = await createTestServer()
})
afterEach(async () => {
  await server.start()
})
afterAll(async () => {
  await server?.remove()
})

describeWithServer('createPostgresLog, when its server goes away', () => {
  it('waits for the server, and goes on when it is back', async () => {
    // Longer than the slowest start of a server.
    const log = await createPostgresLog({
      connectionString: server.connectionString,
      schema,
      maxWaitMs: 200_000,
    })
    const row = call({ idempotencyKey: 'k' })
    expect(await log.start(row, once)).toEqual({ ok: true })
    await server.stop('SIGINT')
    const finishing = log.finish(row.callToken, succeeded)
    await server.start()
    expect(await finishing).toBe('ok')
    expect(await log.list({})).toMatchObject([succeeded])
    await log.prune({ maxRows: 0 })
    await log.close()
  })

  it('fails with no-connection after maxWaitMs, from every method and from opening', async () => {
    const { connectionString } = server
    const log = await openImpatient()
    await server.stop('SIGINT')
    const away = {
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'no-connection' },
      message: expect.stringContaining('Check that the PostgreSQL server runs') as string,
    }
    await expect(log.start(call(), once)).rejects.toMatchObject(away)
    await expect(log.list({})).rejects.toMatchObject(away)
    await expect(log.prune({ maxRows: 0 })).rejects.toMatchObject(away)
    await expect(log.runs.tasks('run')).rejects.toMatchObject(away)
    await expect(
      createPostgresLog({ connectionString, schema, maxWaitMs: 100 }),
    ).rejects.toMatchObject(away)
    await log.close()
  })

  it('leaves the outcome of a call unknown when the server dies in the middle of its finish', async () => {
    const { connectionString } = server
    const log = await openImpatient()
    let effects = 0
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      acceptsContext: true,
      execute: async () => {
        effects += 1
        // The row is locked, so that the finish has been sent and has no answer when the server dies.
        await lockRows(connectionString)
        setTimeout(() => void server.stop('SIGQUIT'), 0)
        return 'charged'
      },
    })
    const run = createToolRun({ runId: 'r', attempt: 1, log, logTimeoutMs: 3000 })
    const { execute } = run.tools({ charge }).charge
    expect(await execute({ amount: 1 }, { toolCallId: 'c', messages: [] })).toBe('charged')
    await expect(run.settle('done')).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      effect: 'applied',
    })
    await server.stop('SIGQUIT')
    await log.close()

    await server.start()
    const later = await createPostgresLog({ connectionString, schema })
    expect(await later.list({})).toMatchObject([{ status: 'started', effect: null }])
    expect(await later.recover({ nowMs: Number.MAX_SAFE_INTEGER })).toBe(1)
    expect(await later.list({})).toMatchObject([{ status: 'error', effect: 'unknown' }])
    expect(effects).toBe(1)
    await later.close()
  })
})

/** A log that gives up soon on a server that is away, and not on one that is slow to take a connection. */
async function openImpatient(): Promise<PostgresLog> {
  const pool = new pg.Pool({ connectionString: server.connectionString })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return await createPostgresLog({ pool, schema, maxWaitMs: 100 })
}

async function lockRows(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  await client.query(`BEGIN; SELECT * FROM ${schema}._smithers_tool_calls FOR UPDATE`)
}
