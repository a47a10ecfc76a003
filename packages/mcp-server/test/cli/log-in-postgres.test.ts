import { createPostgresLog } from '@smithers/log-postgres'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { connectOld, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const missing = process.env['SMITHERS_TEST_POSTGRES_MISSING']
const reason = missing === undefined ? '' : ` (no PostgreSQL server: ${missing})`

describe.skipIf(missing !== undefined)(`--log postgres://…${reason}`, () => {
  it('keeps one row for each call, and serves the rows of its run as resources', async () => {
    const connectionString = process.env['SMITHERS_TEST_POSTGRES'] ?? ''
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const runId = `mcp-${crypto.randomUUID()}`
    const program = serverProgram('--root', root, '--log', connectionString, '--run', runId)
    const client = await connectOld(program)
    expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
    expect((await client.call('write', { path: '../b.txt', content: 'x' })).isError).toBe(true)
    expect(await client.readResource('smithers-log://runs/current')).toMatchObject([
      { toolName: 'write', status: 'error' },
      { toolName: 'read', status: 'success' },
    ])
    await client.close()

    const log = await createPostgresLog({ connectionString })
    const rows = await log.list({ runId })
    await log.close()
    expect(rows).toMatchObject([
      { toolName: 'read', status: 'success', inputJson: '{"path":"a.txt"}' },
      { toolName: 'write', status: 'error' },
    ])
  })
})

describe('--log postgres://… that cannot be opened', () => {
  const place = 'postgres://me:s3cret-word@[/db'

  it('ends the program before it serves, without its password in any line', async () => {
    const { exitCode, stdout, stderr } = await started(['--log', place])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain('could not be opened')
    expect(stderr).not.toContain('s3cret-word')
  })

  it.each(['pg', '@smithers/log-postgres'])('names what to install without %s', async (name) => {
    const { exitCode, stdout, stderr } = await started(['--log', place], withoutPackage(name))
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      'mcp-server: --log postgres://… needs two more packages. Install them beside this one: npm install @smithers/log-postgres pg',
    )
  })

  it('control: with a file as its log, the program needs neither', async () => {
    const { folder } = createWorkspace()
    const without = [...withoutPackage('pg'), ...withoutPackage('@smithers/log-postgres')]
    const { exitCode } = await started(['--log', `${folder}/calls.db`], without)
    expect(exitCode).toBe(0)
  })
})

/** Runs the program to the end of an input that is empty. */
function started(args: readonly string[], flags: readonly string[] = []) {
  const { command, args: all, env } = serverProgram('--root', createWorkspace().root, ...args)
  return execa(command, [...flags, ...all], { reject: false, input: '', env })
}

/** Flags of Node with which a package is not found, as where it is not installed. */
function withoutPackage(name: string): readonly string[] {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== ${JSON.stringify(name)}) return next(specifier, context)
        throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
      },
    })`
  return ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
}
