import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/process/supervise.ts'
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
    await vi.waitUntil(() => isReturned)
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

describe('runCommand', () => {
  afterEach(() => vi.useRealTimers())

  test.each([true, false])(
    'does not call a command late whose output is taken late (namespace: %s)',
    async (namespaceKill) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const ended = Promise.withResolvers<void>()
      const run = runCommand({
        command: {
          file: 'sh',
          args: ['-c', 'echo first; head -c 30000 /dev/zero; echo last'],
          env: { PATH: process.env['PATH'] ?? '' },
          cwd: '/',
          descriptors: [],
        },
        cwd: '/',
        timeoutMs: 60_000,
        maxOutputBytes: 200,
        signal: undefined,
        stdin: undefined,
        // Never done with the first piece. The rest fits into the pipe, so the command can end.
        onOutput: () => new Promise<void>(() => {}),
        marker: 'test',
        namespaceKill,
        mergeOutput: false,
        memoryMb: null,
        hooks: { onExit: ended.resolve },
      })
      await ended.promise
      const state = { isSettled: false }
      run.finally(() => (state.isSettled = true)).catch(() => {})
      while (!state.isSettled) {
        await vi.advanceTimersByTimeAsync(1_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(await run).toMatchObject({
        terminated: undefined,
        exitCode: 0,
        stdoutBytes: 30_011,
        output: expect.stringMatching(/^first\n[^]*last\n$/),
      })
    },
  )
})
