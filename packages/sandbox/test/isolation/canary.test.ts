import { readFile } from 'node:fs'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { runCanary } from '../../src/isolation/canary.ts'
import { createNoIsolation } from '../../src/isolation/none.ts'
import { startBySpawn } from '../../src/isolation/spawn/start-by-spawn.ts'
import type { WrappedCommand } from '../../src/isolation/spawn/wrapped-command.ts'

/** Claims a process namespace and has none, so that no sweep hides what a canary leaves behind. */
function startUnconfined(changes: Partial<WrappedCommand> = {}): ReturnType<typeof startBySpawn> {
  return startBySpawn((request) => ({ ...createNoIsolation().wrap(request), ...changes }), {
    hasProcessNamespace: true,
  })
}

/** Of a program that ends at once: its output ends while this process stands still, after its own end. */
function startOnAMachineThatStandsStill(): ReturnType<typeof startBySpawn> {
  const { prepare, start } = startUnconfined({ file: '/usr/bin/true' })
  return {
    prepare,
    start(request) {
      const running = start(request)
      const stdout = new PassThrough()
      const ended = running.ended.then((end) => {
        setImmediate(() => {
          readFile('/dev/null', () => stdout.end())
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
        })
        return end
      })
      return { ...running, outputs: [['stdout', stdout]], ended }
    },
  }
}

describe('runCanary', () => {
  test('without isolation runs, and finds every trap open', async () => {
    const { ran, faults, filtered } = await runCanary(startUnconfined())
    expect([ran, filtered]).toEqual([true, false])
    expect(faults.map(({ why }) => why)).toEqual(
      expect.arrayContaining([
        'A canary wrote a file outside its root.',
        'A canary read a file beside its root.',
        'A canary reached a TCP port on which this process listened.',
        'A canary reached a unix socket on which this process listened.',
        'A process that a canary left behind outlived it.',
      ]),
    )
  })

  test('that never ran is not taken for a good one', async () => {
    const outcome = await runCanary(startUnconfined({ file: '/usr/bin/true' }))
    expect([outcome.ran, outcome.faults]).toEqual([false, []])
  })

  test('that ended while the machine stood still is not taken for one that left a process', async () => {
    const { faults } = await runCanary(startOnAMachineThatStandsStill())
    expect(faults).toEqual([])
  })

  test('whose program is missing says so', async () => {
    const outcome = await runCanary(startUnconfined({ file: '/nonexistent/program' }))
    expect(outcome.ran).toBe(false)
    expect(outcome.stderr).toContain('ENOENT')
  })
})
