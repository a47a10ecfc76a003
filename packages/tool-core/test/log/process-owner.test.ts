import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { currentOwnerId, isOrphan, isOwnerGone } from '@smithers/tool-core/log'
import { describe, expect, it } from 'vitest'

const ownerProgram = `
  import { currentOwnerId } from '@smithers/tool-core/log'
  console.log(currentOwnerId())
  process.stdin.resume()
`

describe('isOwnerGone', () => {
  it('is false for this process, in every call', () => {
    expect(currentOwnerId()).toBe(currentOwnerId())
    expect(currentOwnerId()).toMatch(/^.+\/[0-9a-f-]{16,}(\/\d+)?:\d+:\d+$/)
    expect(isOwnerGone(currentOwnerId())).toBe(false)
  })

  it('is false while another process lives and true once it was killed', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=@smithers/source', '--input-type=module', '-e', ownerProgram],
      { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'] },
    )
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const owner = line.toString().trim()
    expect(owner).not.toBe(currentOwnerId())
    expect(isOwnerGone(owner)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isOwnerGone(owner)).toBe(true)
  })

  it.runIf(process.platform === 'linux')(
    'is true for a dead process whose parent has not waited for it yet',
    async () => {
      // The shell starts a process, says who it is, and becomes another program, which does not wait for it. The process
      // ends only then: a shell that is still there may wait for it.
      const untilReplaced = '(until [ "$(cat /proc/$shell/comm)" = sleep ]; do :; done)'
      const script = `shell=$$; ${untilReplaced} & echo $!; exec sleep 60`
      const child = spawn('sh', ['-c', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = (await once(child.stdout, 'data')) as [Buffer]
      const pid = Number(line.toString())
      await until(() => stateOf(pid) === 'Z')
      const [host] = currentOwnerId().split(':')
      expect(isOwnerGone(`${host}:${pid}:${startTimeOf(pid)}`)).toBe(true)
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  )

  it.runIf(process.platform === 'linux')(
    'is true for an earlier process whose number a living one has now',
    () => {
      const [host, pid, startTime] = currentOwnerId().split(':')
      expect(isOwnerGone(`${host}:${pid}:${Number(startTime) - 1}`)).toBe(true)
    },
  )

  it('is false where this host cannot know: another host, another machine of the same name, another pid namespace, another form of name', () => {
    const [host, pid] = currentOwnerId().split(':')
    const names = [
      'another-host:1:1',
      `${host}0:${pid}:1`,
      `${host?.split('/').toSpliced(1, 1, 'another').join('/')}:1:1`,
      // As earlier versions named this machine.
      `${host?.split('/').toSpliced(1, 1).join('/')}:1:1`,
      'x',
      '',
      ':::',
      `${host}:${pid}`,
      `${host}:-1:1`,
    ]
    for (const name of names) expect(isOwnerGone(name)).toBe(false)
  })
})

describe('isOrphan', () => {
  const running = { finishedAtMs: null, leaseExpiresAtMs: 100, ownerId: currentOwnerId() }

  it('is true from the end of the lease on, for any owner', () => {
    expect(isOrphan(running, 99)).toBe(false)
    expect(isOrphan(running, 100)).toBe(true)
  })

  it('is false for a call without a lease, and for a finished one', () => {
    expect(isOrphan({ ...running, leaseExpiresAtMs: null }, Infinity)).toBe(false)
    expect(isOrphan({ ...running, leaseExpiresAtMs: null, ownerId: null }, Infinity)).toBe(false)
    expect(isOrphan({ ...running, finishedAtMs: 1 }, Infinity)).toBe(false)
  })
})

function fieldsOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function stateOf(pid: number): string | undefined {
  return fieldsOf(pid)[0]
}

function startTimeOf(pid: number): string | undefined {
  return fieldsOf(pid)[19]
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
