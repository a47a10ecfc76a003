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

  test('whose program is missing says so', async () => {
    const outcome = await runCanary(startUnconfined({ file: '/nonexistent/program' }))
    expect(outcome.ran).toBe(false)
    expect(outcome.stderr).toContain('ENOENT')
  })
})
