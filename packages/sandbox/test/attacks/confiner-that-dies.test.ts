import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { helperNow } from '../../src/isolation/confine/helper.ts'
import { HelperProcess } from '../../src/isolation/confine/helper-process.ts'
import { createLandlock } from '../../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../../src/isolation/confine/namespaces.ts'
import type { RunningCommand } from '../../src/isolation/running-command.ts'

const backends = await Promise.all(
  [createNamespaces(), createLandlock()].map(async (backend) => ({
    name: backend.name,
    backend,
    usable: (await backend.probe()).usable,
  })),
)
const rootDir = mkdtempSync(join(tmpdir(), 'smithers-dies-'))
afterAll(() => rmSync(rootDir, { recursive: true, force: true }))

async function outputOf(running: RunningCommand): Promise<string> {
  const [, stream] = running.outputs[0] ?? []
  return stream === undefined ? '' : text(stream)
}

function helper(): HelperProcess {
  const found = helperNow()
  if (!(found instanceof HelperProcess)) throw new Error('no helper')
  return found
}

/** Living processes with this word in their arguments. */
function living(word: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const isZombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
      const line = readFileSync(`/proc/${name}/cmdline`, 'latin1')
      return !isZombie && line.includes(word) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** For `sleep`: a number that no other process has in its arguments, not even one of another run of these tests. */
const word = (seconds: number): string => `${seconds}.${process.pid.toString().padStart(7, '0')}5`

async function untilGone(marker: string): Promise<void> {
  await expect.poll(() => living(marker)).toEqual([])
}

/** One that stays, one that left its session and its parents, and two of a shell without an environment. */
const crowd = (seconds: string): string =>
  `sleep ${seconds} & (setsid sleep ${seconds} &) ; env -i setsid sh -c 'sleep ${seconds} & sleep ${seconds}' & echo ready; wait`

async function ready(running: RunningCommand): Promise<void> {
  const [, stream] = running.outputs[0] ?? []
  await new Promise((resolve) => stream?.once('data', resolve))
  await running.started
}

describe.each(backends)('what confines a command by $name', ({ name, backend, usable }) => {
  beforeEach(({ skip }) => skip(!usable, `${name} does not work on this machine`))

  async function start(...argv: [string, ...string[]]): Promise<RunningCommand> {
    for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
    return backend.start({
      argv,
      cwd: rootDir,
      cwdHandle: rootDir,
      rootDir,
      policy: { network: 'none', read: [], protect: [], deny: [], limits: { temporaryMb: 1 } },
      env: { PATH: '/usr/bin:/bin' },
      limits: { fileMb: null, cpuSeconds: null, processes: null },
      controlGroups: [],
      hasInput: false,
      mergeOutput: true,
    })
  }

  test('leaves nothing of a command that is killed, however it hides', async () => {
    const running = await start('sh', '-c', crowd(word(7001)))
    await ready(running)
    // A forked process has its own arguments only after `exec`, and none at all for a moment within it.
    await expect.poll(() => living(`sleep\0${word(7001)}`).length).toBe(4)
    expect(running.kill()).toBe(true)
    expect(await running.ended).toMatchObject({ kind: 'exited', signal: 'SIGKILL', allEnded: true })
    expect(living(word(7001))).toEqual([])
    expect(running.kill()).toBe(false)
  })

  test('leaves nothing of a command that exits and left processes behind', async () => {
    const running = await start('sh', '-c', crowd(word(7002)).replace('; wait', ''))
    await ready(running)
    expect(await running.ended).toMatchObject({ kind: 'exited', code: 0, allEnded: true })
    expect(living(word(7002))).toEqual([])
  })

  test('ends a program whose processes start others as they die', async () => {
    const script = `import os, time
for _ in range(40):
    if os.fork() == 0:
        while True:
            if os.fork() != 0: os._exit(0)
            os.setsid(); time.sleep(0.002)
            "${word(7003)}"
print("ready", flush=True)
time.sleep(60)`
    const running = await start('/usr/bin/python3', '-c', script)
    await ready(running)
    running.kill()
    expect(await running.ended).toMatchObject({ kind: 'exited', signal: 'SIGKILL' })
    expect(living(word(7003))).toEqual([])
  })

  test('takes all commands with it when the helper dies, and the next command gets a new one', async () => {
    const commands = [await start('sh', '-c', crowd(word(7004))), await start('sleep', word(7004))]
    await ready(commands[0]!)
    const first = helper().pid
    process.kill(first, 'SIGKILL')
    for (const { ended } of commands) expect(await ended).toMatchObject({ kind: 'lost' })
    await untilGone(word(7004))
    const next = await start('echo', 'again')
    const output = outputOf(next)
    expect([await next.ended, await output]).toMatchObject([{ kind: 'exited', code: 0 }, 'again\n'])
    expect(helper().pid).not.toBe(first)
  })

  test('takes a command with it when its supervisor dies, and no other one', async () => {
    const [victim, other] = [
      await start('sh', '-c', crowd(word(7005))),
      await start('sleep', '0.5'),
    ]
    await ready(victim)
    const pid = (await victim.started) ?? 0
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    process.kill(Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ', 1)[0]), 'SIGKILL')
    expect(await victim.ended).toMatchObject({ kind: 'lost' })
    await untilGone(word(7005))
    expect(await other.ended).toMatchObject({ kind: 'exited', code: 0 })
  })

  test('is not held up by a supervisor that does not answer', async () => {
    const running = await start('sh', '-c', crowd(word(7006)))
    await ready(running)
    const stat = readFileSync(`/proc/${(await running.started) ?? 0}/stat`, 'latin1')
    const supervisor = Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ', 1)[0])
    process.kill(supervisor, 'SIGSTOP')
    running.kill()
    expect(await running.ended).toMatchObject({ kind: 'lost' })
    await untilGone(word(7006))
  })

  test('runs 200 commands at once, and holds no descriptor when a thousand have ended', async () => {
    const runOne = async (): Promise<string> => {
      const running = await start('echo', 'x')
      const output = outputOf(running)
      await running.ended
      return output
    }
    const outputs = await Promise.all(Array.from({ length: 200 }, runOne))
    expect(new Set(outputs)).toEqual(new Set(['x\n']))
    const open = (): number[] => [
      readdirSync('/proc/self/fd').length,
      // The pipes that wait are as many as the last batch left.
      readdirSync(`/proc/${helper().pid}/fd`).length,
    ]
    const [ours, theirs] = open()
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 80 }, runOne))
    // Streams are closed in the turns after their end.
    await expect.poll(() => open()[0]).toBeLessThanOrEqual((ours ?? 0) + 2)
    await expect.poll(() => Math.abs((open()[1] ?? 0) - (theirs ?? 0))).toBeLessThan(100)
  })
})
