import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createNamespaces } from '../../../src/isolation/confine/namespaces.ts'
import type { IsolationPolicy } from '../../../src/isolation/isolation-policy.ts'
import type { CommandEnd, StartRequest } from '../../../src/isolation/running-command.ts'

const backend = createNamespaces()
const probed = await backend.probe()
const base = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-namespaces-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let last = 0
function newDirectory(): string {
  const directory = join(base, String((last += 1)))
  mkdirSync(directory)
  return directory
}

async function run(
  rootDir: string,
  script: string,
  {
    policy,
    ...request
  }: Partial<Omit<StartRequest, 'policy'>> & { policy?: Partial<IsolationPolicy> } = {},
): Promise<{ end: CommandEnd; output: string }> {
  for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
  const running = backend.start({
    argv: ['sh', '-c', script],
    cwd: rootDir,
    cwdHandle: rootDir,
    rootDir,
    env: { PATH: '/usr/bin:/bin', HOME: '/home/user' },
    limits: { fileMb: null, cpuSeconds: null, processes: null },
    controlGroups: [],
    hasInput: false,
    mergeOutput: true,
    ...request,
    policy: {
      network: 'none',
      read: [],
      protect: [],
      deny: [],
      limits: { temporaryMb: 1 },
      ...policy,
    },
  })
  const [, stream] = running.outputs[0] ?? []
  const output = stream === undefined ? '' : await text(stream)
  return { end: await running.ended, output }
}

const exited = (code: number) => ({ kind: 'exited', code, allEnded: true })

describe('a command in namespaces', () => {
  beforeEach(({ skip }) => skip(!probed.usable, probed.notEnforced.map(({ why }) => why).join(' ')))

  test('is refused where a directory to write is missing, and runs once it is there', async () => {
    const rootDir = newDirectory()
    const write = [join(base, 'appears-later')]
    const first = await run(rootDir, 'echo ran', { policy: { write } })
    expect(first.end).toMatchObject({
      kind: 'not-started',
      error: { message: expect.stringContaining(`at ${write[0]}`) },
      why: 'a directory that it needs changed while the sandbox was set up. Run it again',
    })
    mkdirSync(write[0] ?? '')
    const second = await run(rootDir, `echo x > ${write[0]}/file && echo ran`, {
      policy: { write },
    })
    expect(second).toEqual({ end: expect.objectContaining(exited(0)), output: 'ran\n' })
  })

  test('is refused where the root is another directory than the one that was opened', async () => {
    const [rootDir, other] = [newDirectory(), newDirectory()]
    const rootDescriptor = openSync(other, 'r')
    const { end, output } = await run(rootDir, 'echo ran', { rootDescriptor })
    closeSync(rootDescriptor)
    expect(end).toMatchObject({ kind: 'not-started', error: { errno: -116 } })
    expect(output).toBe('')
  })

  test('is refused where the working directory is another one than the one that was checked', async () => {
    const rootDir = newDirectory()
    for (const name of ['a', 'b']) mkdirSync(join(rootDir, name))
    const cwd = join(rootDir, 'a')
    const { end } = await run(rootDir, 'pwd', { cwd, cwdHandle: join(rootDir, 'b') })
    expect(end).toMatchObject({ kind: 'not-started', error: { errno: -116 } })
    expect(await run(rootDir, 'pwd', { cwd, cwdHandle: cwd })).toMatchObject({ output: `${cwd}\n` })
  })

  test('sees the new root after the old one was exchanged for it', async () => {
    const rootDir = newDirectory()
    writeFileSync(join(rootDir, 'file'), 'old')
    expect((await run(rootDir, 'cat file')).output).toBe('old')
    renameSync(rootDir, `${rootDir}-old`)
    mkdirSync(rootDir)
    writeFileSync(join(rootDir, 'file'), 'new')
    expect((await run(rootDir, 'cat file')).output).toBe('new')
  })

  test('has temporary files of the size that the policy sets, and no more', async () => {
    const script =
      'for place in /tmp /dev/shm "$HOME"; do head -c 2000000 /dev/zero > "$place/file"; stat -c %s "$place/file"; done'
    const { output } = await run(newDirectory(), script)
    expect(output.match(/^\d+$/gm)).toEqual(['1048576', '1048576', '1048576'])
    expect(output.match(/No space left/g)).toHaveLength(3)
  })

  test('does not start a program that is not there, and says so as Node does', async () => {
    const { end } = await run(newDirectory(), '', { argv: ['/usr/bin/no-such-program'] })
    expect(end).toMatchObject({ kind: 'not-started', error: { code: 'ENOENT', syscall: 'spawn' } })
    expect(end).not.toHaveProperty('why')
  })

  test('ends with the code or the signal of its first process', async () => {
    expect((await run(newDirectory(), 'exit 7')).end).toMatchObject(exited(7))
    expect((await run(newDirectory(), 'kill -TERM $$')).end).toMatchObject({ signal: 'SIGTERM' })
  })

  test('has the network of the machine where the policy says so', async () => {
    const script = 'readlink /proc/self/ns/net'
    const own = await run(newDirectory(), script)
    const shared = await run(newDirectory(), script, { policy: { network: 'host' } })
    const again = await run(newDirectory(), script, { policy: { network: 'host' } })
    expect(shared.output).toBe(again.output)
    expect(own.output).not.toBe(shared.output)
  })
})
