import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { ToolCallRow } from '@smithers/tool-core'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { livingProcess } from '../fixtures/living-process.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace, type Workspace } from '../fixtures/workspace.ts'

/** How much of the output is kept. */
type Options = { readonly buffer?: { readonly stdout: false } }

interface RunningCall extends Workspace {
  readonly program: ReturnType<typeof start>
  /** The command line of the process that the call has started. */
  readonly commandLine: string
}

const handshake = [
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
]

function start(args: readonly string[], messages: readonly object[], options: Options = {}) {
  const { command, args: all, env } = serverProgram(...args)
  const program = execa(command, all, { ...options, reject: false, env })
  for (const message of messages) program.stdin.write(`${JSON.stringify(message)}\n`)
  return program
}

/** A program that runs a command which does not end by itself. */
async function startedCall(options: Options = {}): Promise<RunningCall> {
  const workspace = createWorkspace()
  const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
  const params = { name: 'bash', arguments: { command: `touch begun; exec sleep ${seconds}` } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { root, logPath } = workspace
  const program = start(['--root', root, '--log', logPath], [...handshake, call], options)
  const commandLine = `sleep ${seconds}`
  await expect.poll(() => existsSync(join(root, 'begun'))).toBe(true)
  await expect.poll(() => livingProcess(commandLine)).toBe(true)
  return { ...workspace, program, commandLine }
}

async function rowsOf(path: string): Promise<readonly ToolCallRow[]> {
  const log = createSqliteLog({ path })
  const rows = await log.list({})
  await log.close()
  return rows
}

describe('the program', () => {
  it.each([
    ['the end of its input', (program: RunningCall['program']) => program.stdin.end()],
    ['SIGTERM', (program: RunningCall['program']) => program.kill('SIGTERM')],
  ])('ends at %s: commands are killed, rows are finished, the code is 0', async (_how, end) => {
    const { program, commandLine, logPath } = await startedCall()
    end(program)
    const { exitCode } = await program
    expect(exitCode).toBe(0)
    // What was killed keeps its command line until a processor has let it end.
    await expect.poll(() => livingProcess(commandLine)).toBe(false)
    expect(await rowsOf(logPath)).toMatchObject([{ toolName: 'bash', status: 'error' }])
  })

  it('ends at SIGTERM when its client has stopped reading, and complains of nothing', async () => {
    const { program, commandLine, root } = await startedCall({ buffer: { stdout: false } })
    for (let id = 2; id < 400; id += 1) {
      program.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })}\n`)
    }
    const params = { name: 'write', arguments: { path: 'last', content: '' } }
    const last = { jsonrpc: '2.0', id: 400, method: 'tools/call', params }
    program.stdin.write(`${JSON.stringify(last)}\n`)
    await expect.poll(() => existsSync(join(root, 'last'))).toBe(true)
    program.kill('SIGTERM')
    await expect.poll(() => existsSync(`/proc/${program.pid}`)).toBe(false)
    await expect.poll(() => livingProcess(commandLine)).toBe(false)
    program.stdout.resume()
    expect(await program).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('leaves a row that its next start marks as unknown, after kill -9', async () => {
    const { program, root, logPath } = await startedCall()
    program.kill('SIGKILL')
    await program
    expect(await rowsOf(logPath)).toMatchObject([{ status: 'started', effect: null }])

    const params = { name: 'glob', arguments: { pattern: '*' } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const next = start(['--root', root, '--log', logPath], [...handshake, call])
    const ended = async (): Promise<unknown> => (await rowsOf(logPath))[1]?.status
    await expect.poll(ended).toBe('success')
    next.stdin.end()
    await next
    expect(await rowsOf(logPath)).toMatchObject([
      { toolName: 'bash', status: 'error', effect: 'unknown' },
      { toolName: 'glob', status: 'success' },
    ])
  })

  it('keeps standard output for the protocol when a tool prints to it', async () => {
    const { root } = createWorkspace()
    const program = join(import.meta.dirname, '../fixtures/programs/logging-server.ts')
    const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
    const running = execa(process.execPath, [...flags, program, root], { reject: false })
    const params = { name: 'chatty', arguments: {} }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    for (const message of [...handshake, call]) running.stdin.write(`${JSON.stringify(message)}\n`)
    let printed = ''
    running.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    await expect.poll(() => printed).toContain('"id":1')
    running.stdin.end()
    const { stdout, stderr } = await running
    const lines = stdout.split('\n')
    expect(lines.pop()).toBe('after the end')
    const ids = lines.map((line) => (JSON.parse(line) as { readonly id?: number }).id)
    expect(ids).toEqual([0, 1])
    expect(stderr).toContain('a line of the tool')
    expect(stderr).toContain('forged')
  })
})
