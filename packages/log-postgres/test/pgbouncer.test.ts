import { logConformance } from '@smithers/log-conformance/vitest'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresLog } from '@smithers/log-postgres'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { createLog } from './fixtures/create-pooled-log.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { missingPooler, startPooler, type TestPooler } from './fixtures/pgbouncer.ts'
import { postgresConformance } from './fixtures/postgres-conformance.ts'
import { missingServer, newSchema } from './fixtures/test-database.ts'

const reason = missingServer ?? missingPooler
const because = reason === undefined ? '' : ` (${reason})`

/** They pass through the pooler as well, and take as long as all the others together. */
const longTests = [
  '4 claims: eight processes that all try a hundred keys make exactly a hundred effects',
  '7 multi-process: 4 processes that make 500 calls each meet no error and lose no row',
  '9 prune: more rows than one transaction removes are removed and counted, and calls go on meanwhile',
  '14 approval use: eight processes that all try fifty approvals run fifty calls',
].map((test) => ({ test, reason: 'long; runs with SMITHERS_LONG_TESTS=1' }))

describe.skipIf(reason !== undefined)(`through PgBouncer in transaction mode${because}`, () => {
  let pooler: TestPooler
  beforeAll(async () => {
    pooler = await startPooler(serverUrl())
    process.env['SMITHERS_TEST_POOLER'] = pooler.connectionString
  })
  afterAll(async () => {
    delete process.env['SMITHERS_TEST_POOLER']
    await pooler.stop()
  })

  it('has the control: a session setting of one client is seen by another', async () => {
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: pooler.connectionString })
      await client.connect()
      return client
    }
    const [one, other] = [await connect(), await connect()]
    await one.query("SET application_name = 'left behind'")
    const { rows } = await other.query('SHOW application_name')
    expect(rows).toEqual([{ application_name: 'left behind' }])
    await one.query('RESET application_name')
    await Promise.all([one.end(), other.end()])
  })

  it.each([true, false])(
    'runs many lanes over few connections with prepare: %s',
    async (prepare) => {
      const settings = { connectionString: pooler.connectionString, schema: newSchema(), prepare }
      const logs = await Promise.all(
        Array.from({ length: 3 }, () => createPostgresLog({ ...settings, maxConnections: 6 })),
      )
      const lanes = Array.from({ length: 24 }, async (_, lane) => {
        const log = logs[lane % 3]
        for (let seq = 1; seq <= 10; seq += 1) {
          const row = call({ nodeId: `lane-${lane}`, seq, idempotencyKey: `key-${lane}-${seq}` })
          expect(await log?.start(row, { durability: 'fsync', claim: 'once' })).toEqual({
            ok: true,
          })
          expect(await log?.finish(row.callToken, succeeded)).toBe('ok')
        }
      })
      await Promise.all(lanes)
      expect(await logs[0]?.list({ status: 'success' })).toHaveLength(240)
      for (const log of logs) await log.close()
    },
  )

  // The connections that break are those to the server.
  const { network: _, ...pooledConformance } = postgresConformance
  logConformance({
    ...pooledConformance,
    name: 'pooled postgres',
    createLog,
    processModule: new URL('./fixtures/create-pooled-log.ts', import.meta.url),
    crashesPerPoint: 1,
    randomCrashes: 1,
    skip: process.env['SMITHERS_LONG_TESTS'] === '1' ? [] : longTests,
  })
})
