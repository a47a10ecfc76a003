import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createNoIsolation } from '../../src/isolation/none.ts'
import type { RunningCommand } from '../../src/isolation/running-command.ts'
import { startBySpawn } from '../../src/isolation/spawn/start-by-spawn.ts'
import { supervise } from '../../src/process/supervise.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('run, when its caller fails,', (isolation) => {
  test('kills the command and passes on what the source of its input threw', async () => {
    const sandbox = await newSandbox({ isolation })
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of it\n')
      throw new Error('the disk is gone')
    }
    const run = sandbox.run('sh', ['-c', 'cat > copy; echo complete > done'], { stdin: source() })
    await expect(run).rejects.toThrow('the disk is gone')
    expect(existsSync(join(sandbox.rootDir, 'done'))).toBe(false)
  })

  test('refuses pieces of input that are neither text nor bytes', async () => {
    const sandbox = await newSandbox({ isolation })
    const stdin = (async function* () {
      yield 'text, '
      yield 3 as unknown as Uint8Array
    })()
    await expect(sandbox.run('cat', [], { stdin })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })

  test('lets a command leave input unread, or end before its source', async () => {
    const sandbox = await newSandbox({ isolation })
    let isReturned = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(65_536)
      } finally {
        isReturned = true
      }
    }
    const { status, exitCode } = await sandbox.run('true', [], { stdin: endless() })
    expect({ status, exitCode }).toEqual({ status: 'exited', exitCode: 0 })
    await expect.poll(() => isReturned).toBe(true)
  })

  test('takes only promises for something to wait for', async () => {
    const sandbox = await newSandbox({ isolation })
    const chunks: unknown[] = []
    const onOutput = ((chunk: unknown) => chunks.push(chunk)) as unknown as () => void
    const { output } = await sandbox.run('echo', ['x'], { onOutput })
    expect(output).toBe('x\n')
    expect(chunks).toHaveLength(1)
  })
})

describe('supervise', () => {
  afterEach(() => vi.useRealTimers())

  test('keeps the input open until a command has ended whose source failed', async () => {
    const running = await startInRoot({
      argv: ['sh', '-c', 'cat > /dev/null; echo complete'],
      hasInput: true,
    })
    let wasOpen: boolean | undefined
    const late: RunningCommand = {
      ...running,
      kill() {
        // A kill by another process takes its time; the command must not read "end of file" before.
        setImmediate(() =>
          setImmediate(() => {
            wasOpen = running.stdin?.destroyed === false && !running.stdin.writableEnded
            running.kill()
          }),
        )
        return true
      },
    }
    const outcome = await supervise(late, {
      timeoutMs: 60_000,
      maxOutputBytes: 200,
      signal: undefined,
      stdin: (async function* () {
        yield 'half of it'
        throw new Error('the disk is gone')
      })(),
      onOutput: undefined,
      watch: { memoryMb: null, processes: null },
      hooks: {},
    })
    expect({ wasOpen, output: outcome.output, terminated: outcome.terminated }).toEqual({
      wasOpen: true,
      output: '',
      terminated: 'caller-failed',
    })
  })

  test.each([true, false])(
    'does not call a command late whose output is taken late (process namespace: %s)',
    async (hasProcessNamespace) => {
      const running = await startInRoot({
        argv: ['sh', '-c', 'echo first; head -c 30000 /dev/zero; echo last'],
        hasProcessNamespace,
        onPrepared: () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }),
      })
      const ended = Promise.withResolvers<void>()
      const run = supervise(running, {
        // Vitest moves the clock while it waits, by as much as it waits.
        timeoutMs: 600_000,
        maxOutputBytes: 200,
        signal: undefined,
        stdin: undefined,
        // Never done with the first piece. The rest fits into the pipe, so the command can end.
        onOutput: () => new Promise<void>(() => {}),
        watch: { memoryMb: null, processes: null },
        hooks: { onExit: ended.resolve },
      })
      // Far below the timeout: the pauses of a search for processes that were left behind.
      await vi.waitUntil(
        async () => {
          await vi.advanceTimersByTimeAsync(1)
          return Promise.race([ended.promise.then(() => true), nextTurn()])
        },
        { timeout: 60_000 },
      )
      const state = { isSettled: false }
      run.finally(() => (state.isSettled = true)).catch(() => {})
      while (!state.isSettled) {
        await vi.advanceTimersByTimeAsync(1_000)
        await nextTurn()
      }
      expect(await run).toMatchObject({
        terminated: undefined,
        end: { kind: 'exited', code: 0 },
        output: expect.stringMatching(/^first\n[^]*last\n$/),
      })
    },
  )
})

/** Starts a command without isolation; `onPrepared` is called just before. */
async function startInRoot(command: {
  argv: [string, ...string[]]
  hasInput?: boolean
  hasProcessNamespace?: boolean
  onPrepared?: () => void
}): Promise<RunningCommand> {
  const { wrap } = createNoIsolation()
  const { prepare, start } = startBySpawn(wrap, {
    hasProcessNamespace: command.hasProcessNamespace ?? true,
  })
  await prepare()
  command.onPrepared?.()
  return start({
    argv: command.argv,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
    cwdHandle: '/',
    rootDir: '/',
    policy: { network: 'host', read: [], protect: [], deny: [], limits: { temporaryMb: 1 } },
    limits: { fileMb: null, cpuSeconds: null, processes: null },
    controlGroups: [],
    hasInput: command.hasInput ?? false,
    mergeOutput: false,
  })
}

function nextTurn(): Promise<false> {
  return new Promise((resolve) => setImmediate(resolve, false))
}
