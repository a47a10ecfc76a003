import { expect, test, vi } from 'vitest'
import { livingProcesses } from '../../fixtures/living-processes.ts'
import { newSandbox } from '../../fixtures/sandboxes.ts'

const { hidden } = vi.hoisted(() => ({ hidden: { marker: '', looks: 0 } }))

/** Shows a process as it is within `exec`, without arguments and environment, to the first who look at its environment. */
vi.mock('node:fs', async (load) => {
  const actual = await load<typeof import('node:fs')>()
  const readFileSync = (...args: Parameters<typeof actual.readFileSync>): unknown => {
    const result = actual.readFileSync(...args)
    const [, pid, part] = /^\/proc\/(\d+)\/(environ|cmdline)$/.exec(String(args[0])) ?? []
    if (pid === undefined || hidden.looks === 0) return result
    if (!actual.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(hidden.marker))
      return result
    if (part === 'environ') hidden.looks -= 1
    return ''
  }
  return { ...actual, readFileSync }
})

test.runIf(process.platform === 'linux')(
  'a process that is within exec for long when its command ends is ended with it',
  async () => {
    const marker = `86800.${process.pid.toString().padStart(7, '0')}`
    const sandbox = await newSandbox({ isolation: 'none' })
    const script = `setsid sleep ${marker} >/dev/null 2>&1 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo left`
    Object.assign(hidden, { marker: `sleep\0${marker}`, looks: 12 })
    const result = await sandbox.run('sh', ['-c', script])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'left\n', leftBehind: true })
    expect(hidden.looks).toBe(0)
    await expect.poll(() => livingProcesses(marker)).toEqual([])
  },
)
