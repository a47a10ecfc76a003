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

/** What it prints is read only after its end. */
function startWithLateOutput(): ReturnType<typeof startBySpawn> {
  const { prepare, start } = startUnconfined()
  return {
    prepare,
    start(request) {
      const running = start(request)
      const outputs = running.outputs.map(([name, stream]) => {
        const late = new PassThrough()
        void running.ended.then(() => setTimeout(() => stream.pipe(late), 100))
        return [name, late] as const
      })
      return { ...running, outputs }
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

  test('whose output is read after its end has run', async () => {
    expect((await runCanary(startWithLateOutput())).ran).toBe(true)
  })

  test('that never ran is not taken for a good one', async () => {
    const outcome = await runCanary(startUnconfined({ file: '/usr/bin/true' }))
    expect(outcome).toMatchObject({ ran: false, faults: [], stderr: 'it exited with code 0' })
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
