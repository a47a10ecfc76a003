import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bash, createBuiltinTools } from '@smithers/builtin-tools'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { call, createTask, lateCommand } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { createToolRun } from '@smithers/tool-core'

describe('bash with a script', () => {
  test('runs it with sh: pipes, redirects, several commands', async () => {
    const { run } = createTask()
    const command = 'printf "b\\na\\n" > list; sort list | tr a-z A-Z && echo done'
    expect(await run({ command })).toBe('A\nB\ndone\n')
  })

  test('starts it in the working directory', async () => {
    const { run } = createTask()
    await run({ command: 'mkdir sub' })
    expect(await run({ command: 'basename "$PWD"', opts: { cwd: 'sub' } })).toBe('sub\n')
  })

  test('names the script in an error, shortened', async () => {
    const { run } = createTask()
    await expect(run({ command: 'echo oops >&2; exit 3' })).rejects.toThrow(
      '"echo oops >&2; exit 3" exited with code 3. Output:\noops\n',
    )
    await expect(run({ command: `echo first\nexit 4` })).rejects.toThrow(
      '"echo first …" exited with code 4.',
    )
  })

  test.each([
    ['nothing', {}, 'Pass cmd (with args), or command. Correct'],
    ['both', { cmd: 'ls', command: 'ls' }, 'Pass either cmd with args, or command alone. Correct'],
    ['arguments beside it', { command: 'ls', args: ['-l'] }, 'Pass either cmd with args'],
    ['a script over 100 000 characters', { command: 'x'.repeat(100_001) }, 'command'],
    ['a time of 0', { command: 'ls', timeoutMs: 0 }, 'timeoutMs'],
  ])('refuses %s before anything runs', async (_, input, message) => {
    const { run } = createTask()
    await expect(run(input)).rejects.toThrow(code('INVALID_INPUT'))
    await expect(run(input)).rejects.toThrow(message)
  })

  test.each([
    ['echo > started; curl -O example.com', 'TOOL_NETWORK_DISABLED'],
    ['echo > started && git push', 'TOOL_GIT_REMOTE_DISABLED'],
    ['echo > started; (cd . && env X=1 wget example.com)', 'TOOL_NETWORK_DISABLED'],
    ["echo > started; sh -c 'cd .; git clone git@host:x'", 'TOOL_GIT_REMOTE_DISABLED'],
    ['echo > started; x=$(npm install left-pad)', 'TOOL_NETWORK_DISABLED'],
  ])('refuses %j before its first command', async (command, expected) => {
    const { run, root } = createTask({ isolation: 'auto' })
    await expect(run({ command })).rejects.toThrow(code(expected))
    expect(existsSync(join(root, 'started'))).toBe(false)
    // Control: without what reaches out, it starts.
    await run({ command: 'echo > started' })
    expect(existsSync(join(root, 'started'))).toBe(true)
  })

  test.each([
    'git log --grep=fetch || true',
    'echo "curl example.com"',
    'grep -r push . || true',
    'echo "$(git status --short || true)"',
    'for f in a b; do echo "$f"; done',
    'test -n "$(command -v curl)" && echo yes || echo no',
    'curl -s http://localhost:1/ || echo refused',
    "sh -c 'if false; then git clone git@host:x; fi; echo on'",
  ])('lets %j run', async (command) => {
    const { run } = createTask({ isolation: 'auto' })
    expect(typeof (await run({ command }))).toBe('string')
  })

  test('asks the bundle’s own check about each command', async () => {
    const asked: string[] = []
    const { bash: checked } = createBuiltinTools({
      commands: (argv) => {
        asked.push(argv.join(' '))
        return null
      },
    })
    await createTask({}, checked).run({ command: 'echo one; echo two | cat' })
    expect(asked).toEqual(['sh -c echo one; echo two | cat', 'echo one', 'echo two', 'cat'])
  })
})

describe('timeoutMs of bash', () => {
  test('ends the command, and says how long it may be', async () => {
    const { timeoutMs, failure } = await lateCommand((script, time) => {
      const { root, run } = createTask({ timeoutMs: 300_000 })
      return { root, ended: run({ command: script, timeoutMs: time }) }
    })
    expect(failure).toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(failure.message).toMatch(/Or pass a longer timeoutMs, up to 300000\. Output:\nbegun/)
    expect(failure.message).toContain(`after ${timeoutMs} ms`)
  })

  test('never exceeds the context’s', async () => {
    const { run } = createTask({ timeoutMs: 300 })
    const failure = run({ cmd: 'sleep', args: ['86400'], timeoutMs: 60_000 })
    await expect(failure).rejects.toThrow('after 300 ms')
    await expect(failure).rejects.not.toThrow('longer timeoutMs')
  })
})

interface Showing {
  readonly toModelOutput: (given: unknown) => unknown
}

function shown(output: string): unknown {
  const given = { toolCallId: 'call-1', input: { cmd: 'x' }, output }
  return (bash as unknown as Showing).toModelOutput(given)
}

describe('what a model reads of bash', () => {
  test('says that there was no output', async () => {
    expect(shown('')).toEqual({ type: 'text', value: '(no output)' })
    // AI SDK 5 hands over the output alone.
    expect((bash as unknown as Showing).toModelOutput('')).toEqual({
      type: 'text',
      value: '(no output)',
    })
    expect(await createTask().run({ cmd: 'true' })).toBe('')
  })

  test('has no escape sequences, also in errors', async () => {
    const { run } = createTask()
    const script = 'printf "\\033[31mred\\033[0m \\033]0;title\\007end\\n"'
    const output = await run({ command: script })
    expect(output).toContain('\u001B[31m')
    expect(shown(output)).toEqual({ type: 'text', value: 'red end\n' })
    await expect(run({ command: `${script}; exit 1` })).rejects.toThrow('Output:\nred end\n')
  })

  test('is within the budget, of a failing command too', async () => {
    const { root } = createFileTask()
    const options = { rootDir: root, isolation: 'none', runId: 'r' } as const
    const { bash: bound } = createToolRun(options).tools({ bash })
    const command = 'seq 1 40000'
    const output = await bound.execute({ command }, call)
    expect(Buffer.byteLength(output)).toBeGreaterThan(190_000)
    const { value } = (bound as unknown as Showing).toModelOutput({
      toolCallId: 'call-1',
      input: { command },
      output,
    }) as { readonly value: string }
    expect(value.split('\n').length).toBeLessThanOrEqual(2_002)
    expect(value).toMatch(/^1\n2\n[^]*not shown here\. For less, filter the output[^]*\n40000\n$/)
    const failing = bound.execute({ command: `${command}; exit 1` }, call)
    await expect(failing).rejects.toThrow(/exited with code 1[^]*not shown here[^]*\n40000\n$/)
    await expect(failing).rejects.toSatisfy(
      ({ message }: Error) => Buffer.byteLength(message) <= 50_000,
    )
  })

  test('follows the bundle’s budget', async () => {
    const failing = { command: 'seq 1 3000; exit 1' }
    const { bash: unbounded } = createBuiltinTools({ modelBudget: false })
    await expect(createTask({}, unbounded).run(failing)).rejects.toThrow('\n1500\n')
    const { bash: small } = createBuiltinTools({ modelBudget: { maxLines: 20 } })
    await expect(createTask({}, small).run(failing)).rejects.not.toThrow('\n1500\n')
    expect(() => createBuiltinTools({ modelBudget: { maxLine: 20 } as object })).toThrow(
      code('INVALID_INPUT'),
    )
  })
})

describe('the environment of bash', () => {
  const print = { command: 'echo "$NO_COLOR $PAGER $GIT_PAGER"' }

  test('asks programs for plain output, unless the bundle sets something else', async () => {
    expect(await createTask().run(print)).toBe('1 cat cat\n')
    const { bash: own } = createBuiltinTools({ env: { set: { NO_COLOR: '', PAGER: 'more' } } })
    expect(await createTask({}, own).run(print)).toBe(' more cat\n')
  })

  test('gets no colours and no warning of Node where the terminal of the program forces colours', async () => {
    vi.stubEnv('FORCE_COLOR', '1')
    vi.stubEnv('NO_COLOR', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const script = `console.log(require('tty').WriteStream.prototype.getColorDepth())`
    const run = { cmd: 'node', args: ['-e', script] }
    expect(await createTask().run(run)).toBe('1\n')
    const { bash: coloured } = createBuiltinTools({ env: { pass: ['FORCE_COLOR'] } })
    const both = { command: 'echo "$NO_COLOR/$FORCE_COLOR"' }
    expect(await createTask({}, coloured).run(both)).toBe('/1\n')
    expect(await createTask().run(both)).toBe('1/\n')
  })
})
