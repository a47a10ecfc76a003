import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { currentOwnerId, isOwnerGone } from '@smithers/tool-core/log'
import { describe, expect, it, vi } from 'vitest'

// A container without /proc: no start time can be read there.
vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs')>()),
  readFileSync: () => {
    throw Object.assign(new Error('no /proc'), { code: 'ENOENT' })
  },
}))

describe('isOwnerGone', () => {
  it('is decided by the process number alone where start times cannot be read', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const [host] = currentOwnerId().split(':')
    const owner = `${host}:${child.pid}:12345`
    expect(isOwnerGone(owner)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isOwnerGone(owner)).toBe(true)
  })
})
