import { createPostgresLog } from '@smithers/log-postgres'
import { createToolRun, defineTool } from '@smithers/tool-core'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const missing = process.env['SMITHERS_TEST_POSTGRES_MISSING']
const reason = missing === undefined ? '' : ` (no PostgreSQL server: ${missing})`

describe.skipIf(missing !== undefined)(`a log in PostgreSQL${reason}`, () => {
  test('is read wherever --log is, and by SMITHERS_LOG, without its password in any line', async () => {
    const server = new URL(process.env['SMITHERS_TEST_POSTGRES'] ?? '')
    // A database of its own: other files of these tests make tables and calls beside it.
    const admin = new pg.Client({ connectionString: server.href })
    await admin.connect()
    const database = `cli_log_${process.pid}`
    await admin.query(`CREATE DATABASE ${database}`)
    await admin.end()
    server.pathname = `/${database}`
    // The server of the tests asks for none; another one has its own.
    if (server.password === '') server.searchParams.set('password', 'pass-word')
    const password = server.password || 'pass-word'
    const connectionString = server.href
    const cwd = temporaryFolder()
    // Reading creates no table.
    const before = await runSmithers(['calls', '--log', connectionString], { cwd })
    expect(before.exitCode).toBe(1)
    const log = await createPostgresLog({ connectionString })
    const read = defineTool({
      name: 'read',
      schema: z.object({ path: z.string() }),
      execute: () => 'text',
    })
    const { execute } = createToolRun({ runId: 'in-postgres', log }).tools({ read }).read
    await execute({ path: 'a.txt' }, { toolCallId: 'c', messages: [] })
    await log.close()

    const listed = await runSmithers(['calls', '--json', '--log', connectionString], { cwd })
    expect(JSON.parse(listed.stdout)).toMatchObject({ runId: 'in-postgres', output: 'text' })
    const env = { SMITHERS_LOG: connectionString }
    const shown = await runSmithers(['show', '1'], { cwd, env })
    expect(shown.stdout).toContain('in-postgres')
    const why = await runSmithers(['why', 'none'], { cwd, env })
    expect(why.stderr).toMatch(/^smithers: postgres.* has no run none\./)
    const status = await runSmithers(['db', 'status'], { cwd, env })
    expect(status.stdout).toMatch(/^_smithers_tool_calls +1 /m)
    expect(status.stdout).toContain('open calls: 0\nno lease')
    const json = await runSmithers(['db', 'status', '--json'], { cwd, env })
    expect(JSON.parse(json.stdout)).toMatchObject({ type: 'database', openCalls: 0 })
    const help = await runSmithers(['calls', '--help'], { cwd, env })
    for (const { stdout, stderr } of [before, listed, shown, why, status, json, help]) {
      expect(stdout + stderr).not.toContain(password)
    }
  })

  test('is that of a schema with ?schema= behind the address, in printed commands too', async () => {
    const server = new URL(process.env['SMITHERS_TEST_POSTGRES'] ?? '')
    server.searchParams.set('schema', 'cli_named schema')
    const connectionString = server.href
    const log = await createPostgresLog({ connectionString })
    const read = defineTool({ name: 'read', schema: z.object({}), execute: () => 'text' })
    const { execute } = createToolRun({ runId: 'in-schema', log }).tools({ read }).read
    await execute({}, { toolCallId: 'c', messages: [] })
    const old = `UPDATE "cli_named schema"._smithers_tool_calls
      SET started_at_ms = 1, finished_at_ms = 2 WHERE run_id = 'in-schema'`
    const pool = new pg.Pool({ connectionString, max: 1 })
    await pool.query(old)
    await pool.end()
    await log.close()

    const cwd = temporaryFolder()
    const env = { SMITHERS_LOG: connectionString }
    const listed = await runSmithers(['calls', '--json'], { cwd, env })
    expect(JSON.parse(listed.stdout)).toMatchObject({ runId: 'in-schema' })
    const status = await runSmithers(['db', 'status', '--json'], { cwd, env })
    expect(JSON.parse(status.stdout)).toMatchObject({ schema: 'cli_named schema' })
    const dry = await runSmithers(['db', 'prune', '--keep-days', '1', '--dry-run'], { cwd, env })
    expect(dry.stdout).toContain('1 call')
    const other = ['db', 'status', '--schema', 'cli_no_such_schema']
    expect(await runSmithers(other, { cwd, env })).toMatchObject({ exitCode: 1, stdout: '' })
    const { stderr } = await runSmithers(['why', 'none', '--log', connectionString], { cwd })
    const [command] = /smithers runs --log '[^']+'/.exec(stderr) ?? []
    expect(command).toMatch(/\?schema=cli_named%20schema'$/)
  })
})

describe('a log in PostgreSQL that cannot be opened', () => {
  test.for(['postgres://me:s3cret-word@127.0.0.1:1/db', 'postgres://me:s3cret-word#@[/db'])(
    'is an error without its password: %s',
    async (log) => {
      const { exitCode, stdout, stderr } = await runSmithers(['calls', '--log', log], {
        cwd: temporaryFolder(),
        env: { SMITHERS_DEBUG: '1' },
      })
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain('cannot be opened')
      expect(stderr).not.toContain('s3cret-word')
    },
  )

  test('is refused for db status when it is a file', async () => {
    const { exitCode, stderr } = await runSmithers(['db', 'status', '--log', 'calls.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('--log postgres://')
  })
})
