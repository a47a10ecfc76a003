import { databaseStatus } from '@smithers/log-postgres'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: null } as const

describeWithServer('databaseStatus', () => {
  it('tells rows, sizes, the oldest open call and the oldest lease, over a pool or a connection', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    const empty = await databaseStatus({ pool: admin(), schema })
    expect(empty).toMatchObject({ schema, schemaVersion: 2, openCalls: 0 })
    expect([empty.oldestOpenCall, empty.oldestLease]).toEqual([null, null])

    const ended = call({ seq: 1, startedAtMs: 1 })
    await log.start(ended, relaxed)
    await log.finish(ended.callToken, succeeded)
    await log.start(call({ seq: 2, startedAtMs: 20, runId: 'a\0b', leaseExpiresAtMs: 70 }), relaxed)
    await log.start(call({ seq: 3, startedAtMs: 30, ownerId: 'o', leaseExpiresAtMs: 60 }), relaxed)
    for (const where of [{ pool: admin() }, { connectionString: serverUrl() }]) {
      const status = await databaseStatus({ ...where, schema })
      expect(status.oldestOpenCall).toEqual({ runId: 'a\0b', toolName: 'charge', startedAtMs: 20 })
      const lease = { kind: 'call', runId: 'run', ownerId: 'o', leaseExpiresAtMs: 60 }
      expect(status.oldestLease).toEqual(lease)
      expect(status.openCalls).toBe(2)
      expect(status.serverVersion).toMatch(/^\d+\./)
      const calls = status.tables.find(({ name }) => name === '_smithers_tool_calls')
      expect(calls).toMatchObject({ rows: 3, isEstimate: false })
      expect(calls?.tableBytes).toBeGreaterThan(0)
      expect(calls?.indexBytes).toBeGreaterThan(0)
      const sizes = [...status.tables, ...status.archivePartitions]
      const sum = sizes.reduce((total, size) => total + size.tableBytes + size.indexBytes, 0)
      expect(status.totalBytes).toBe(sum)
    }

    const lease = { ownerId: 'p', leaseToken: 'one', leaseExpiresAtMs: 9, nowMs: 1 }
    await log.runs.claim({ runId: 'leased', inputJson: null, optionsJson: '{}', ...lease })
    const { oldestLease } = await databaseStatus({ pool: admin(), schema })
    expect(oldestLease).toEqual({ kind: 'run', runId: 'leased', ownerId: 'p', leaseExpiresAtMs: 9 })
    await log.close()
  })

  it('refuses a schema without a log and creates none', async () => {
    const schema = newSchema()
    await expect(databaseStatus({ pool: admin(), schema })).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'older-schema' },
    })
    const { rows } = await admin().query('SELECT to_regnamespace($1) AS found', [schema])
    expect(rows).toEqual([{ found: null }])
  })
})
