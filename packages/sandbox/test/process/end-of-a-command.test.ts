import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RunResult } from '@smithers/sandbox'
import { expect, test } from 'vitest'
import { livingProcesses } from '../fixtures/living-processes.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('sandbox.run', (isolation, backend) => {
  test.runIf(process.platform === 'linux')(
    'leaves no process behind when an object of the caller throws',
    async () => {
      const sandbox = await newSandbox({ isolation })
      const signal = {
        aborted: false,
        addEventListener: () => {
          throw new Error('no listeners here')
        },
      }
      const mark = `left-${randomUUID()}`
      const failure = sandbox.run('sh', ['-c', 'sleep 86400', mark], { signal: signal as never })
      await expect(failure).rejects.toThrow('no listeners here')
      // One that was killed keeps its command line until a processor has let it end.
      await expect.poll(() => livingProcesses(mark)).toEqual([])
    },
  )

  test('tells whether a command left processes behind, where that can be known', async () => {
    const sandbox = await newSandbox({ isolation })
    const leftBehind = async (script: string): Promise<unknown> =>
      (await sandbox.run('sh', ['-c', script])).leftBehind
    const known = backend !== 'bubblewrap'
    // Outputs of its own, or none: both are found.
    for (const rest of ['sleep 86400 & echo', 'sleep 86400 >/dev/null 2>&1 & exit 3']) {
      expect(await leftBehind(rest)).toBe(known ? true : undefined)
    }
    for (const whole of ['true', 'seq 3 | tail -n 1', 'sleep 0.01 & wait']) {
      expect(await leftBehind(whole)).toBe(known ? false : undefined)
    }
  })

  test('kills a command at its timeout and keeps what it had printed', async () => {
    const sandbox = await newSandbox({ isolation })
    const printed = join(sandbox.rootDir, 'printed')
    const script = 'echo before; touch printed; exec sleep 86400'
    let timeoutMs = 500
    let result: RunResult
    // A busy machine may let it begin only after a short time is over.
    do {
      timeoutMs *= 2
      result = await sandbox.run('sh', ['-c', script], { timeoutMs })
    } while (!existsSync(printed))
    expect(result).toMatchObject({
      status: 'timeout',
      exitCode: null,
      stdout: 'before\n',
      error: { code: 'TOOL_TIMEOUT', effect: 'unknown' },
    })
    expect(result.error?.message).toContain(`"sh" was still running after ${timeoutMs} ms`)
  })

  test('ends endless output at the timeout', async () => {
    const sandbox = await newSandbox({ isolation })
    let omittedBytes = 0
    // A busy machine may let it begin only after a short time is over.
    for (let timeoutMs = 500; omittedBytes <= 100_000; timeoutMs *= 2) {
      const result = await sandbox.run('yes', [], { timeoutMs, maxOutputBytes: 1000 })
      expect(result.status).toBe('timeout')
      expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(1000)
      omittedBytes = result.omittedBytes
    }
  })

  test('kills a command when its signal aborts', async () => {
    const sandbox = await newSandbox({ isolation })
    const abort = new AbortController()
    const result = await sandbox.run('sh', ['-c', 'echo started; exec sleep 86400'], {
      signal: abort.signal,
      onOutput: () => abort.abort(new Error('enough')),
    })
    expect(result).toMatchObject({ status: 'aborted', error: { code: 'TOOL_ABORTED' } })
    expect(result.error?.cause).toEqual(new Error('enough'))
  })

  test('starts nothing when the signal has aborted before', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'echo ran > ran'], {
      signal: AbortSignal.abort(),
    })
    expect(result).toMatchObject({
      status: 'aborted',
      durationMs: 0,
      error: { code: 'TOOL_ABORTED', effect: 'none' },
    })
    expect(existsSync(join(sandbox.rootDir, 'ran'))).toBe(false)
  })

  test('returns when the command exits, also when a child it left holds the pipe', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'sleep 86400 & setsid sleep 86400 & echo done'])
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'done\n' })
  })
})
