import { createPostgresLog, migrate } from '@smithers/log-postgres'
import { expect, it } from 'vitest'
import { call } from '../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: null } as const

/** The connection of another role. */
async function urlOf(role: string): Promise<string> {
  await admin().query(`CREATE ROLE ${role} LOGIN`)
  const url = new URL(serverUrl())
  url.searchParams.set('user', role)
  return url.href
}

function reason(name: string): { code: string; details: { reason: string } } {
  return { code: 'TOOL_LOG_UNAVAILABLE', details: { reason: name } }
}

describeWithServer('createPostgresLog, refused by the server', () => {
  it('says what a role lacks that may not create tables, and works once it may use them', async () => {
    const schema = newSchema()
    const role = `r${schema}`
    const connectionString = await urlOf(role)
    const settings = { connectionString, schema }
    await expect(createPostgresLog(settings)).rejects.toMatchObject(reason('permission-denied'))
    await expect(createPostgresLog({ ...settings, migrate: false })).rejects.toMatchObject({
      ...reason('older-schema'),
      message: expect.stringContaining('Call migrate()') as string,
    })

    expect(await migrate({ pool: admin(), schema })).toBe(2)
    await admin().query(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    const reader = await createPostgresLog({ ...settings, migrate: false })
    expect(await reader.list({})).toEqual([])
    await expect(reader.start(call(), relaxed)).rejects.toMatchObject({
      ...reason('permission-denied'),
      message: expect.stringContaining('Grant the role') as string,
    })
    await admin().query(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
    expect(await reader.start(call(), relaxed)).toEqual({ ok: true })
    await reader.close()
  })

  it.each([
    ['no-database', { database: 'none' }],
    ['authentication', { user: 'nobody-of-that-name' }],
  ])('names %s', async (name, changes) => {
    const url = new URL(serverUrl())
    const { database, user } = { database: undefined, user: undefined, ...changes }
    if (database !== undefined) url.pathname = `/${database}`
    if (user !== undefined) url.searchParams.set('user', user)
    await expect(createPostgresLog({ connectionString: url.href })).rejects.toMatchObject(
      reason(name),
    )
  })

  it('refuses a database whose encoding cannot hold every text', async () => {
    const name = newSchema()
    await admin().query(`CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`)
    const url = new URL(serverUrl())
    url.pathname = `/${name}`
    await expect(createPostgresLog({ connectionString: url.href })).rejects.toMatchObject(
      reason('encoding'),
    )
  })

  it('refuses an identifier that no index can hold, and stores nothing', async () => {
    const log = await openLog(newSchema())
    const long = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
    await expect(log.start(call({ runId: long.join('') }), relaxed)).rejects.toMatchObject(
      reason('too-long'),
    )
    expect(await log.list({})).toEqual([])
    await log.close()
  })

  it('names no host, user or password in its messages', async () => {
    const connectionString = 'postgres://ada:s3cret@127.0.0.1:9/db'
    const opening = createPostgresLog({ connectionString, maxWaitMs: 0 })
    await expect(opening).rejects.toMatchObject(reason('no-connection'))
    await expect(opening).rejects.not.toMatchObject({
      message: expect.stringMatching(/s3cret|ada/) as string,
    })
  })

  it.each([
    [{ connectionString: 'nonsense' }],
    [{ connectionString: '' }],
    [{ pool: {} as never }],
    [{ connectionString: 'postgres://h/d', maxConnections: 0 }],
    [{ connectionString: 'postgres://h/d', maxWaitMs: Number.NaN }],
    [{ connectionString: 'postgres://h/d', schema: 'x'.repeat(64) }],
    [{ connectionString: 'postgres://h/d', durability: 'some' as never }],
  ])('refuses the options %j', async (options) => {
    await expect(createPostgresLog(options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
