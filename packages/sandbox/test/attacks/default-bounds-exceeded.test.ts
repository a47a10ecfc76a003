import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { WatchedUse } from '../../src/process/resource-limits/watch-use.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

const machine = vi.hoisted(() => ({ memoryMb: 1e6, processes: 1e6 }))

/** A machine so small that its defaults can be exceeded without harm. */
vi.mock('../../src/process/resource-limits/watch-use.ts', async (load) => {
  const actual = await load<typeof import('../../src/process/resource-limits/watch-use.ts')>()
  const watchUse: typeof actual.watchUse = (processes, watched, onExceeded) => {
    const small = (name: keyof WatchedUse) =>
      watched[name] === null ? null : { limit: machine[name], mayBeReached: () => true }
    return actual.watchUse(
      processes,
      { memoryMb: small('memoryMb'), processes: small('processes') },
      onExceeded,
    )
  }
  return { ...actual, watchUse }
})

/** Each waits to be killed, until there is a file: a busy machine may look at it late. */
const allocate = `
import os, time
blocks = []
for _ in range(300):
    blocks.append(bytearray(1 << 20))
    time.sleep(0.001)
while not os.path.exists("go-on"): time.sleep(0.01)
print("all of it")`

const start = `
import os, threading, time
done = threading.Event()
threading.stack_size(65536)
for _ in range(150): threading.Thread(target=done.wait, daemon=True).start()
while not os.path.exists("go-on"): time.sleep(0.01)
print("all of them")`

describeIsolations('a command without limits', (isolation) => {
  test('is killed when it takes more memory than the machine can spare', async () => {
    const sandbox = await newSandbox({ isolation })
    machine.memoryMb = 100
    const { stdout, status, violations } = await sandbox.run('python3', ['-c', allocate])
    expect(stdout).toBe('')
    expect(status).not.toBe('timeout')
    expect(violations.map(({ rule }) => rule)).toEqual(['memory'])

    // The control: on a larger machine the same command ends by itself.
    machine.memoryMb = 1e6
    writeFileSync(join(sandbox.rootDir, 'go-on'), '')
    expect((await sandbox.run('python3', ['-c', allocate])).stdout).toBe('all of it\n')
  })

  test('is killed when it has too many processes, where the kernel does not count', async () => {
    const sandbox = await newSandbox({ isolation })
    const goOn = join(sandbox.rootDir, 'go-on')
    writeFileSync(goOn, '')
    machine.processes = 1e6
    const control = await sandbox.run('python3', ['-c', start])
    expect(control.stdout).toBe('all of them\n')
    const isWatched = control.enforced.limits.processes === 'watched'
    if (isWatched) rmSync(goOn)
    machine.processes = 60
    const result = await sandbox.run('python3', ['-c', start])
    expect(result.enforced).toEqual(control.enforced)
    expect(result.stdout).toBe(isWatched ? '' : 'all of them\n')
    expect(result.violations.map(({ rule }) => rule)).toEqual(isWatched ? ['processes'] : [])
  })
})
