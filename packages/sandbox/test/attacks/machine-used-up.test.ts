import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasControlGroups } from '../../src/process/resource-limits/control-group.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('a command that takes too much', (isolation, backend) => {
  test('cannot keep more processes than its limit', async () => {
    const sandbox = await newSandbox({ isolation, limits: { processes: 40 } })
    // Bounded, so that a limit that fails costs 200 sleeping processes and not the machine.
    const start = `
import os, time
started = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        started += 1
except OSError: pass
if started == 200: time.sleep(600)
print(started)`
    const { enforced, stdout, status, violations } = await sandbox.run('python3', ['-c', start])
    if (enforced.limits.processes === 'enforced') {
      expect(Number(stdout)).toBeGreaterThan(10)
      expect(Number(stdout)).toBeLessThan(40)
    } else {
      expect([status, stdout]).toEqual([status, ''])
      expect(violations).toEqual([expect.objectContaining({ rule: 'processes' })])
    }
  })

  test('cannot write a file larger than its limit', async () => {
    const sandbox = await newSandbox({ isolation, limits: { fileMb: 1 } })
    const { exitCode } = await sandbox.run('head', ['-c', '1000000000', '/dev/zero'])
    expect(exitCode).toBe(0)
    await sandbox.run('dd', ['if=/dev/zero', 'of=large', 'bs=1M', 'count=1000'])
    expect(statSync(join(sandbox.rootDir, 'large')).size).toBe(1024 * 1024)
  })

  test('cannot compute longer than its limit', async () => {
    const sandbox = await newSandbox({ isolation, limits: { cpuSeconds: 1 } })
    const result = await sandbox.run('sh', ['-c', 'while :; do :; done'])
    // bubblewrap reports a signal as shells do.
    expect(result.signal ?? result.exitCode).toBe(backend === 'bubblewrap' ? 128 + 24 : 'SIGXCPU')
  })

  test('is killed when it takes more memory than its limit', async () => {
    const sandbox = await newSandbox({ isolation, limits: { memoryMb: 100 } })
    const allocate = `
import time
blocks = []
for _ in range(400):
    blocks.append(bytearray(1 << 20))
    time.sleep(0.002)
print("all of it")
time.sleep(600)`
    const result = await sandbox.run('python3', ['-c', allocate])
    expect(result.stdout).toBe('')
    expect(result.violations).toEqual([
      expect.objectContaining({ rule: 'memory', message: expect.stringContaining('100 MiB') }),
    ])
    expect(result.enforced.limits.memoryMb).toBe(hasControlGroups() ? 'enforced' : 'watched')
    expect((await sandbox.run('python3', ['-c', 'print(len(bytearray(1 << 24)))'])).exitCode).toBe(
      0,
    )
  })

  test('writes no core file', async () => {
    const sandbox = await newSandbox({ isolation })
    const { stdout } = await sandbox.run('sh', ['-c', 'ulimit -c'])
    expect(stdout).toBe('0\n')
  })
})
