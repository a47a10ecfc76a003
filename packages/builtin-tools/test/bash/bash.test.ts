import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { bash, createBuiltinTools, type RanCommand } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, getDefinedToolMetadata } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { call, createTask, lateCommand } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { modelReads } from '../fixtures/model-reads.ts'

describe('bash', () => {
  test.each(['none', 'auto'] as const)(
    'says after the output, and in an error, what the sandbox undid (isolation %s)',
    async (isolation) => {
      const { run, root } = createTask({ isolation })
      const script = 'echo done; echo evil > .envrc'
      const output = await run({ cmd: 'sh', args: ['-c', script] })
      expect(output).toMatch(/^done\n\[sandbox\] The command created "\.envrc", a protected name/)
      expect(existsSync(join(root, '.envrc'))).toBe(false)
      await expect(run({ cmd: 'sh', args: ['-c', `${script}; exit 3`] })).rejects.toMatchObject({
        message: expect.stringContaining('The command created ".envrc"'),
        details: expect.objectContaining({
          violations: [expect.objectContaining({ subject: '.envrc' })],
        }),
      })
    },
  )

  test('tells the model, and it alone, that background processes were ended', async () => {
    const { run } = createTask()
    const note = '[sandbox] Processes that the command left in the background were ended with it.'
    const input = { command: 'sleep 86400 & echo started' }
    const output = await run(input)
    expect(output).toBe('started\n')
    expect(modelReads(bash, { ...call, input, output })).toBe(`started\n${note}`)
    const next = { command: 'echo alone' }
    const alone = await run(next)
    expect(modelReads(bash, { ...call, input: next, output: alone })).toBe('alone\n')
    await expect(run({ command: 'sleep 86400 & exit 3' })).rejects.toThrow(note.slice(10))
  })

  test('is a side effect that must not be repeated blindly', () => {
    expect(getDefinedToolMetadata(bash)).toEqual({
      name: 'bash',
      sideEffect: true,
      idempotent: false,
    })
  })

  test('reads no shell syntax in cmd, and shows how to ask for a shell', async () => {
    const { run } = createTask()
    await expect(run({ cmd: 'echo hi' })).rejects.toThrow(
      'Command not found: "echo hi". No shell reads the command line: pass the words as args, or use { command: "echo hi" }.',
    )
    await expect(run({ cmd: 'no-such-program' })).rejects.toThrow(code('TOOL_SPAWN_FAILED'))
  })

  test('kills everything at the time limit and shows the output so far', async () => {
    const { timeoutMs, failure } = await lateCommand((script, time) => {
      const { root, run } = createTask({ timeoutMs: time })
      return { root, ended: run({ cmd: 'sh', args: ['-c', script] }) }
    })
    expect(failure).toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(failure.message).toMatch(/Output:\nbegun\n$/)
    expect(failure.message).toContain(`"sh" was still running after ${timeoutMs} ms`)
  })

  test('ends when the agent aborts the call', async () => {
    const { run } = createTask()
    const abort = new AbortController()
    const running = run({ cmd: 'sleep', args: ['86400'] }, abort.signal)
    abort.abort()
    await expect(running).rejects.toThrow(code('TOOL_ABORTED'))
  })

  test('gives the command an empty input', async () => {
    const { run } = createTask()
    expect(await run({ cmd: 'cat' })).toBe('')
  })

  test.each([
    ['cmd of 8 193 characters', { cmd: 'x'.repeat(8_193) }],
    ['an empty cmd', { cmd: '' }],
    ['129 arguments', { cmd: 'true', args: Array.from({ length: 129 }, () => 'x') }],
    ['an argument of 8 193 characters', { cmd: 'true', args: ['x'.repeat(8_193)] }],
    ['cwd of 1 025 characters', { cmd: 'true', opts: { cwd: 'x'.repeat(1_025) } }],
    ['an argument that is no string', { cmd: 'true', args: [7 as unknown as string] }],
  ])('refuses %s before anything runs', async (_, input) => {
    const { run } = createTask()
    await expect(run(input)).rejects.toThrow(code('INVALID_INPUT'))
  })

  test('accepts each of them at its limit, and 128 arguments at theirs', async () => {
    const { run } = createTask({ maxOutputBytes: 2_000_000 })
    const args = Array.from({ length: 128 }, () => 'x'.repeat(8_192))
    expect(await run({ cmd: 'echo', args })).toHaveLength(128 * 8_193)
    await expect(run({ cmd: 'x'.repeat(8_192) })).rejects.toThrow(code('TOOL_SPAWN_FAILED'))
    const cwd = './'.repeat(512)
    expect(await run({ cmd: 'true', opts: { cwd } })).toBe('')
  })

  test.each([
    ['curl', { cmd: 'curl', args: ['localhost'] }, 'TOOL_NETWORK_DISABLED'],
    ['a URL', { cmd: 'node', args: ['x.js', 'https://example.com'] }, 'TOOL_NETWORK_DISABLED'],
    ['git push', { cmd: 'git', args: ['-C', '.', 'push'] }, 'TOOL_GIT_REMOTE_DISABLED'],
  ])('refuses %s while the network is off', async (_, input, expected) => {
    const { run } = createTask()
    await expect(run(input)).rejects.toThrow(code(expected))
  })

  test('lets a command reach the network exactly when it is allowed', async () => {
    const seen: string[] = []
    const server = createServer((socket) => socket.on('data', (data) => seen.push(data.toString())))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const script = `const s = require('net').connect(${port}, '127.0.0.1', () => s.end('hello')); s.on('error', () => process.exit(5))`
    try {
      const allowed = createTask({ allowNetwork: true, isolation: 'auto' })
      await allowed.run({ cmd: 'node', args: ['-e', script] })
      await expect.poll(() => seen).toEqual(['hello'])
      const confined = createTask({ isolation: 'auto' })
      const commands: RanCommand[] = []
      const { bash: observed } = createBuiltinTools({
        onCommand: (command) => commands.push(command),
      })
      await createTask({ isolation: 'auto' }, observed).run({ cmd: 'true' })
      if (commands[0]?.result.enforced.network === 'enforced') {
        await expect(confined.run({ cmd: 'node', args: ['-e', script] })).rejects.toThrow(
          'exited with code 5',
        )
        expect(seen).toEqual(['hello'])
      }
    } finally {
      server.close()
    }
  })

  test('refuses to run without isolation that is required, before anything runs', async () => {
    const { root, run } = createTask({ isolation: { require: ['teleportation'] } })
    await expect(run({ cmd: 'sh', args: ['-c', 'echo > ran'] })).rejects.toThrow(
      code('INVALID_INPUT'),
    )
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  test('refuses a working directory that is missing, a file or outside', async () => {
    const { run, root } = createTask()
    writeFileSync(join(root, 'file'), '')
    await expect(run({ cmd: 'true', opts: { cwd: 'nowhere' } })).rejects.toThrow('does not exist')
    await expect(run({ cmd: 'true', opts: { cwd: 'file' } })).rejects.toThrow('is a file, not a')
    await expect(run({ cmd: 'true', opts: { cwd: '..' } })).rejects.toThrow(
      code('TOOL_PATH_ESCAPE'),
    )
  })

  test('counts as an effect in the workspace while the network is off, and outside otherwise', async () => {
    const warning = async (allowNetwork: boolean) => {
      const { root } = createFileTask()
      const task = {
        log: createMemoryLog(),
        runId: 'run',
        rootDir: root,
        isolation: 'none',
        allowNetwork,
      } as const
      await createToolRun({ ...task, attempt: 1 }).with(() => bash.execute({ cmd: 'true' }, call))
      return createToolRun({ ...task, attempt: 2 }).retryWarning()
    }
    // Workspace effects are summed up in a line; each effect outside has its own, with its key.
    expect(await warning(false)).toContain('git diff')
    expect(await warning(true)).not.toContain('git diff')
    expect(await warning(true)).toContain('"cmd":"true"')
  })
})
