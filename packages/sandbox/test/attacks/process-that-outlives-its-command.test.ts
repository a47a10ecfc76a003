import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'
import { livingProcesses } from '../fixtures/living-processes.ts'

// `sleep` accepts fractions: a number that no other process of this machine has on its command line.
const prefix = `86400.${process.pid.toString().padStart(7, '0')}`
let last = 0
const newMarker = (): string => `${prefix}${(last += 1).toString().padStart(4, '0')}`

// What a failed test found alive must not stay so.
afterEach(() => {
  for (const pid of livingProcesses(prefix)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended since: of a kill in the test itself.
    }
  }
})

/** Ways to leave a process behind; each prints `left` when it is running. */
const leavers: Readonly<Record<string, (marker: string) => string>> = {
  'the same group': (marker) => `sleep ${marker} & echo left`,
  'a session of its own': (marker) => `setsid sleep ${marker} & echo left`,
  'two forks': (marker) => `( ( setsid sleep ${marker} & ) & ); echo left`,
  'deafness to signals': (marker) =>
    `sh -c "trap '' TERM HUP INT QUIT; sleep ${marker}; sleep ${marker}" & echo left`,
  nohup: (marker) => `nohup setsid sleep ${marker} >/dev/null 2>&1 & echo left`,
  'an empty environment': (marker) =>
    `setsid env -i /usr/bin/sleep ${marker} </dev/null >/dev/null 2>&1 & echo left`,
  'a daemon in Python': (marker) =>
    `/usr/bin/python3 -c 'import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execvp("sleep", ["sleep", "${marker}"])'; echo left`,
}

describeConfined('a process left behind', (confinement) => {
  test.each(Object.entries(leavers))('by %s ends with its command', async (_, leave) => {
    const marker = newMarker()
    // Its output is closed, so that the command's end is not held up by the pipe.
    const { stdout } = await confinement.run(confinement.directory(), [
      'sh',
      '-c',
      `exec 9>&1; { ${leave(marker)}; } 2>/dev/null`,
    ])
    expect(stdout).toContain('left')
    await expect.poll(() => livingProcesses(marker)).toEqual([])
  })

  test.each(Object.entries(leavers))(
    'by %s ends when the confining process is killed',
    async (_, leave) => {
      const marker = newMarker()
      const child = confinement.start(confinement.directory(), [
        'sh',
        '-c',
        `${leave(marker)}; sleep ${marker}`,
      ])
      await lineOf(child, 'left')
      await expect.poll(() => livingProcesses(`sleep\0${marker}`).length).toBeGreaterThan(1)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await expect.poll(() => livingProcesses(marker)).toEqual([])
    },
  )

  test('outlives its command without isolation', async () => {
    const marker = newMarker()
    const leave = `setsid sleep ${marker} </dev/null >/dev/null 2>&1 & echo left`
    await confinement.runFreely(confinement.directory(), ['sh', '-c', leave])
    // In the middle of becoming another program a process has no command line.
    await expect.poll(() => livingProcesses(marker)).toHaveLength(1)
    for (const pid of livingProcesses(marker)) process.kill(pid, 'SIGKILL')
  })

  test('cannot signal a process outside', async () => {
    const program = `
import os, signal
reached = []
for pid in [-1, ${process.pid}, ${process.ppid}]:
    try:
        os.kill(pid, 0)
        if pid > 0: reached.append(pid)
    except OSError: pass
print(reached)
`
    const { stdout } = await confinement.run(confinement.directory(), [
      '/usr/bin/python3',
      '-c',
      program,
    ])
    expect(stdout.trim()).toBe('[]')
  })
})

async function lineOf(child: ChildProcess, wanted: string): Promise<void> {
  if (child.stdout === null) throw new Error('the child was started without a pipe')
  for await (const line of createInterface({ input: child.stdout })) if (line === wanted) return
  throw new Error(`the child ended without the line ${wanted}`)
}
