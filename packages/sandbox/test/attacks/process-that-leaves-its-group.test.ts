import { expect, test } from 'vitest'
import { livingProcesses } from '../fixtures/living-processes.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

// `sleep` takes fractions: a number that no other process of this machine has on its command line.
let last = 0
const prefix = `86300.${process.pid.toString().padStart(7, '0')}`
const newMarker = (): string => `${prefix}${(last += 1).toString().padStart(4, '0')}`

/** Ways to leave; `left` is printed when the process runs. */
const leavers: Readonly<Record<string, (marker: string) => string>> = {
  'staying in the group': (marker) => `sleep ${marker} & echo left`,
  'holding the pipe': (marker) => `sleep ${marker} & echo left; exit 0`,
  'a session of its own': (marker) => `setsid sleep ${marker} >/dev/null 2>&1 & echo left`,
  'two forks': (marker) => `( ( setsid sleep ${marker} >/dev/null 2>&1 & ) & ); echo left`,
  nohup: (marker) => `nohup sleep ${marker} >/dev/null 2>&1 & echo left`,
  'deafness to signals': (marker) =>
    `sh -c "trap '' TERM HUP INT QUIT; sleep ${marker}; sleep ${marker}" & echo left`,
  'a daemon in Python': (marker) => `python3 -c '
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execvp("sleep", ["sleep", "${marker}"])'; echo left`,
  'many at once': (marker) =>
    `for i in 1 2 3 4 5 6 7 8 9 10; do setsid sh -c "sleep ${marker} & sleep ${marker}" & done; echo left`,
}

describeIsolations('a process that tries to stay by', (isolation) => {
  test.each(Object.entries(leavers))('%s is gone when its command has ended', async (_, leave) => {
    const sandbox = await newSandbox({ isolation })
    const marker = newMarker()
    const result = await sandbox.run('sh', ['-c', leave(marker)])
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'left\n' })
    await expect.poll(() => livingProcesses(marker)).toEqual([])
  })

  test.each(Object.entries(leavers))('%s is gone after a timeout', async (_, leave) => {
    const sandbox = await newSandbox({ isolation })
    const marker = newMarker()
    const abort = new AbortController()
    // Killed when it has printed `left`, so that the process has left by then; the timeout takes the same path.
    const running = sandbox.run('sh', ['-c', `${leave(marker)}; sleep ${marker}`], {
      signal: abort.signal,
      onOutput: ({ bytes }) => {
        if (Buffer.from(bytes).toString().includes('left')) abort.abort()
      },
    })
    expect((await running).status).toBe('aborted')
    await expect.poll(() => livingProcesses(marker)).toEqual([])
  })

  test('clearing everything that it could be known by is stopped by a namespace only', async () => {
    const sandbox = await newSandbox({ isolation })
    const marker = newMarker()
    const { enforced } = await sandbox.run('sh', [
      '-c',
      `setsid env -i /bin/sh -c 'echo > started; exec /bin/sleep ${marker}' </dev/null >/dev/null 2>&1 &
       while [ ! -e started ]; do :; done`,
    ])
    // The report tells the truth in both cases.
    if (enforced.kill !== 'best-effort') {
      await expect.poll(() => livingProcesses(marker)).toEqual([])
      return
    }
    await expect.poll(() => livingProcesses(marker)).toHaveLength(1)
    for (const pid of livingProcesses(marker)) process.kill(pid, 'SIGKILL')
  })
})
