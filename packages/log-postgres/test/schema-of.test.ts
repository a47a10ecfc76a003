import { createPostgresLog, databaseStatus, migrate, schemaOf } from '@smithers/log-postgres'
import { describe, expect, it } from 'vitest'
import { call } from '../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

describe('schemaOf', () => {
  it.for<[string, string | undefined, string]>([
    ['postgres://host/db', undefined, 'public'],
    ['postgres://host/db?sslmode=require', undefined, 'public'],
    ['postgres://host/db?schema=agents', undefined, 'agents'],
    ['postgres://host/db?sslmode=require&schema=two%20words&x=y#z', undefined, 'two words'],
    ['postgres://user@/db?host=/run&schema=socket', undefined, 'socket'],
    ['socket:/run/postgresql?db=d&schema=socket', undefined, 'socket'],
    ['postgres://host/db?schema=agents', 'other', 'other'],
    ['postgres://host/db?schema=', undefined, ''],
    ['postgres://host/schema=a', undefined, 'public'],
  ])('of %s and the option %s', ([connectionString, schema, expected]) => {
    expect(schemaOf({ connectionString, schema })).toBe(expected)
  })

  it('is public without a string', () => {
    expect(schemaOf({})).toBe('public')
  })
})

describeWithServer('?schema= of a connection string', () => {
  const named = (schema: string): string => {
    const server = new URL(serverUrl())
    server.searchParams.set('schema', schema)
    return server.href
  }

  it('is where the tables are, for the log, its migration and its status', async () => {
    const schema = newSchema()
    const connectionString = named(schema)
    await migrate({ connectionString })
    const log = await createPostgresLog({ connectionString, migrate: false })
    await log.start(call({ seq: 1 }), { durability: 'relaxed', claim: null })
    await log.close()
    const { rows } = await admin().query(`SELECT seq FROM ${schema}._smithers_tool_calls`)
    expect(rows).toHaveLength(1)
    expect(await databaseStatus({ connectionString })).toMatchObject({ schema, openCalls: 1 })
  })

  it('is less than the option', async () => {
    const [schema, other] = [newSchema(), newSchema()]
    const log = await openLog(schema)
    await log.start(call({ seq: 1 }), { durability: 'relaxed', claim: null })
    await log.close()
    const connectionString = named(other)
    expect(await databaseStatus({ connectionString, schema })).toMatchObject({ openCalls: 1 })
    await expect(databaseStatus({ connectionString })).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'older-schema' },
    })
  })

  it('is refused when it is empty', async () => {
    await expect(createPostgresLog({ connectionString: named('') })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('schema must be a name') as string,
    })
  })
})
