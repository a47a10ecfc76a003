import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bash, createBuiltinTools, type RanCommand } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import {
  createToolRun,
  getDefinedToolMetadata,
  runWithToolContext,
  type ToolContextOptions,
} from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { createFileTask } from './fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }
type Input = Parameters<typeof bash.execute>[0]

function createTask(options: ToolContextOptions = {}, tool = bash) {
  const { root, context } = createFileTask({}, { isolation: 'none', ...options })
  return {
    root,
    run: (input: Input, signal?: AbortSignal) =>
      runWithToolContext(context, () =>
        tool.execute(input, signal === undefined ? call : { ...call, abortSignal: signal }),
      ),
  }
}

const code = (expected: string) => expect.objectContaining({ code: expected })

describe('bash', () => {
  test('is a side effect that must not be repeated blindly', () => {
    expect(getDefinedToolMetadata(bash)).toEqual({
      name: 'bash',
      sideEffect: true,
      idempotent: false,
    })
  })

  test.each(['none', 'auto'] as const)(
    'returns what the command printed, and nothing about how it was confined (isolation %s)',
    async (isolation) => {
      const { run, root } = createTask({ isolation })
      expect(await run({ cmd: 'echo', args: ['a  b', '$HOME'] })).toBe('a  b $HOME\n')
      expect(await run({ cmd: 'true' })).toBe('')
      expect(await run({ cmd: 'sh', args: ['-lc', 'echo one | tr a-z A-Z; pwd -P'] })).toBe(
        `ONE\n${root}\n`,
      )
      mkdirSync(join(root, 'sub'))
      expect(await run({ cmd: 'pwd', opts: { cwd: 'sub' } })).toBe(`${root}/sub\n`)
    },
  )

  test.runIf(process.platform === 'linux')(
    'returns the lines of both streams in the order in which they were printed',
    async () => {
      const { run } = createTask()
      const script = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done'
      for (let round = 0; round < 10; round += 1) {
        expect(await run({ cmd: 'sh', args: ['-c', script] })).toBe(
          'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n',
        )
      }
    },
  )

  test('names no signal for a code that git returns for wrong usage', async () => {
    const { run, root } = createTask({ isolation: 'none' })
    execFileSync('git', ['init', '-q', root])
    await expect(run({ cmd: 'git', args: ['stash', '--no-such-option', 'x'] })).rejects.toThrow(
      /^"git" exited with code 129\. Output:\n/,
    )
  })

  test('distinguishes blank output from none', async () => {
    const { run } = createTask()
    await expect(run({ cmd: 'sh', args: ['-c', 'echo; exit 3'] })).rejects.toThrow(
      '"sh" exited with code 3. It printed only blanks.',
    )
    await expect(run({ cmd: 'false' })).rejects.toThrow('code 1. It printed nothing.')
  })

  test('explains a failure at a protected name', async () => {
    const { run, root } = createTask({ isolation: 'auto' })
    execFileSync('git', ['init', '-q', root])
    const failure = await run({ cmd: 'git', args: ['config', 'user.name', 'me'] }).catch(String)
    // Without isolation nothing stops it.
    if (failure === '') return
    expect(failure).toContain('Commands may read but not change ".git/config": protected names')
  })

  test('reads no shell syntax in cmd, and shows how to ask for a shell', async () => {
    const { run } = createTask()
    await expect(run({ cmd: 'echo hi' })).rejects.toThrow(
      'Command not found: "echo hi". No shell reads the command line: pass the words as args, or use { cmd: "sh", args: ["-lc", "echo hi"] }.',
    )
    await expect(run({ cmd: 'no-such-program' })).rejects.toThrow(code('TOOL_SPAWN_FAILED'))
  })

  test('puts the exit code and the output into the message, the only part a model sees', async () => {
    const { run } = createTask()
    await expect(
      run({ cmd: 'sh', args: ['-c', 'echo out; echo why >&2; exit 7'] }),
    ).rejects.toThrow(/^"sh" exited with code 7\. Output:\n(out\nwhy|why\nout)\n$/)
    await expect(run({ cmd: 'false' })).rejects.toThrow(
      '"false" exited with code 1. It printed nothing.',
    )
    const failure = run({ cmd: 'sh', args: ['-c', 'kill -TERM $$'] })
    await expect(failure).rejects.toThrow('"sh" was ended by SIGTERM.')
    await expect(failure).rejects.toMatchObject({
      code: 'TOOL_COMMAND_FAILED',
      details: {
        status: 'killed',
        exitCode: null,
        signal: 'SIGTERM',
        enforced: { backend: 'none', network: 'policy-only' },
      },
    })
    await expect(run({ cmd: 'sh', args: ['-c', 'exit 137'] })).rejects.toThrow(
      'exited with code 137, as after SIGKILL.',
    )
  })

  test('keeps the beginning and the end of output over the limit, and never exceeds it', async () => {
    const { run } = createTask({ maxOutputBytes: 1000 })
    const script = 'i=0; while [ $i -lt 1000 ]; do echo "line $i é"; i=$((i+1)); done'
    const output = await run({ cmd: 'sh', args: ['-c', script] })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1000)
    expect(output).toMatch(/^line 0 é\n/)
    expect(output).toMatch(/line 999 é\n$/)
    expect(output).toMatch(/\[… \d+ bytes omitted …\]/)
    expect(output).not.toContain('\uFFFD')
    const exact = await run({ cmd: 'sh', args: ['-c', 'head -c 1000 /dev/zero | tr "\\0" x'] })
    expect(exact).toBe('x'.repeat(1000))
    // The end is what tells a failure, so it is in the message too.
    await expect(run({ cmd: 'sh', args: ['-c', `${script}; exit 1`] })).rejects.toThrow('line 999')
  })

  test('kills everything at the time limit and shows the output so far', async () => {
    const { run } = createTask({ timeoutMs: 500 })
    const failure = run({ cmd: 'sh', args: ['-c', 'echo begun; sleep 86400'] })
    await expect(failure).rejects.toThrow(code('TOOL_TIMEOUT'))
    await expect(failure).rejects.toThrow(
      /"sh" was still running after 500 ms[^]*Output:\nbegun\n$/,
    )
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

describe('createBuiltinTools', () => {
  test('hands code the separate streams and what was enforced', async () => {
    const commands: RanCommand[] = []
    const { bash: observed } = createBuiltinTools({
      isolation: 'none',
      onCommand: (command) => commands.push(command),
    })
    const { run } = createTask({}, observed)
    await run({ cmd: 'sh', args: ['-c', 'echo out; echo err >&2'] })
    expect(commands).toEqual([
      {
        toolCallId: 'call-1',
        cmd: 'sh',
        args: ['-c', 'echo out; echo err >&2'],
        result: expect.objectContaining({
          stdout: 'out\n',
          stderr: 'err\n',
          enforced: expect.objectContaining({ backend: 'none', kill: 'best-effort' }),
        }),
      },
    ])
  })

  test('prefers its own limits, root and network to those of the context', async () => {
    const { root } = createFileTask({ file: 'x' })
    const { bash: own } = createBuiltinTools({
      rootDir: root,
      limits: { maxOutputBytes: 50, timeoutMs: 300 },
      allowNetwork: false,
      isolation: 'none',
    })
    const { run } = createTask({ allowNetwork: true }, own)
    expect(await run({ cmd: 'ls' })).toBe('file\n')
    await expect(run({ cmd: 'curl' })).rejects.toThrow(code('TOOL_NETWORK_DISABLED'))
    await expect(run({ cmd: 'sleep', args: ['86400'] })).rejects.toThrow('after 300 ms')
    const output = await run({ cmd: 'seq', args: ['1', '1000'] })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50)
  })

  test('asks a policy of its own about every command', async () => {
    const { bash: own } = createBuiltinTools({
      isolation: 'none',
      commands: ([command]) =>
        command === 'rm'
          ? { code: 'TOOL_NETWORK_DISABLED', rule: 'mine', token: 'rm', reason: 'rm is not wanted' }
          : null,
    })
    const { run } = createTask({}, own)
    await expect(run({ cmd: 'rm', args: ['x'] })).rejects.toThrow('rm is not wanted')
    await expect(run({ cmd: 'curl', args: ['--version'] })).resolves.toContain('curl')
  })

  test('reads shell payloads with the strict policy', async () => {
    const { bash: strict } = createBuiltinTools({ isolation: 'none', commands: 'strict' })
    const { run } = createTask({}, strict)
    await expect(run({ cmd: 'sh', args: ['-lc', 'true && curl x'] })).rejects.toThrow(
      code('TOOL_NETWORK_DISABLED'),
    )
    expect(await run({ cmd: 'sh', args: ['-lc', 'echo fine'] })).toBe('fine\n')
  })

  test('creates the named tools, and all five by default', () => {
    expect(Object.keys(createBuiltinTools())).toEqual(['read', 'write', 'edit', 'grep', 'bash'])
    expect(Object.keys(createBuiltinTools({ only: ['read', 'grep'] }))).toEqual(['read', 'grep'])
  })

  test('uses the new directory after a root was removed and created again', async () => {
    const { context, root } = createFileTask({}, { isolation: 'none' })
    const run = () => runWithToolContext(context, () => bash.execute({ cmd: 'ls' }, call))
    expect(await run()).toBe('')
    const { rmSync } = await import('node:fs')
    rmSync(root, { recursive: true })
    mkdirSync(root)
    writeFileSync(join(root, 'new'), '')
    expect(await run()).toBe('new\n')
  })
})
