import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox, createSandboxFiles } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import { processSpace } from '../../src/files/io/process-identity.ts'
import { collectGarbage } from '../fixtures/collect-garbage.ts'
import { code } from '../fixtures/error-code.ts'
import { describeIsolations, describeNetworks, newRoot } from '../fixtures/sandboxes.ts'

/** Homes, sockets and settings of this process. */
function directories(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('smithers-process-'))
    .map((name) => join(tmpdir(), name))
    .filter((directory) => {
      const owner = join(directory, 'owner')
      const [space, pid] = existsSync(owner) ? readFileSync(owner, 'utf8').split(' ') : []
      return space === processSpace() && Number(pid) === process.pid
    })
    .flatMap((directory) => readdirSync(directory).filter((name) => name !== 'owner'))
}

/** Descriptors of this process that keep a directory open. */
function descriptorsOf(directory: string): number {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // That of the listing itself.
      return ''
    }
  })
  return links.filter((link) => link === directory).length
}

const counting =
  'echo begun > begun; n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.02; done'

async function countingIn(root: string): Promise<void> {
  await expect.poll(() => existsSync(join(root, 'count')), { interval: 10 }).toBe(true)
}

function countIn(root: string): string {
  return readFileSync(join(root, 'count'), 'utf8')
}

describeIsolations('a sandbox that is closed', (isolation) => {
  test('has ended its commands, removed what it made, and refuses what comes later', async () => {
    const rootDir = newRoot()
    const before = directories()
    const sandbox = await createSandbox({ rootDir, isolation, warn() {} })
    await sandbox.run('sh', ['-c', 'mkdir -p ~/.cache/x'])
    const running = sandbox.run('sh', ['-c', counting])
    await countingIn(rootDir)
    await Promise.all([sandbox.close(), sandbox.close()])
    const last = countIn(rootDir)
    expect(await running).toMatchObject({ status: 'aborted', error: { code: 'TOOL_ABORTED' } })
    expect(directories()).toEqual(before)
    await sandbox.close()
    expect(await sandbox.run('true')).toMatchObject({
      status: 'refused',
      error: {
        code: 'TOOL_CLOSED',
        effect: 'none',
        message: expect.stringContaining('Create another one'),
      },
    })
    expect(await sandbox.explain({ type: 'run', command: 'true' })).toMatchObject({
      allowed: false,
      code: 'TOOL_CLOSED',
    })
    await expect(sandbox.files.write('a', 'a')).rejects.toThrow(code('TOOL_CLOSED'))
    await expect(sandbox.session().run({ command: 'true' })).rejects.toThrow(code('TOOL_CLOSED'))
    // Another sandbox of the root works, and shows that the command counts no more.
    await using other = await createSandbox({ rootDir, isolation, warn() {} })
    expect((await other.run('sh', ['-c', 'sleep 0.2; cat count'])).stdout.trim()).toBe(last.trim())
  })

  test('has undone what a command did to protected names before it was killed', async () => {
    const rootDir = newRoot()
    mkdirSync(join(rootDir, '.git/hooks'), { recursive: true })
    writeFileSync(join(rootDir, '.git/config'), '')
    writeFileSync(join(rootDir, '.git/HEAD'), 'ref: refs/heads/main\n')
    const plant = 'echo evil > .git/hooks/pre-commit'
    const sandbox = await createSandbox({ rootDir, isolation, warn() {} })
    const running = sandbox.run('sh', ['-c', `${plant}; ${counting}`])
    await countingIn(rootDir)
    await sandbox.close()
    expect(existsSync(join(rootDir, '.git/hooks/pre-commit'))).toBe(false)
    expect((await running).status).toBe('aborted')
  })

  test('leaves another sandbox of its root alone', async () => {
    const rootDir = newRoot()
    const first = await createSandbox({ rootDir, isolation, warn() {} })
    await using second = await createSandbox({ rootDir, isolation, warn() {} })
    await first.run('true')
    const script = 'mktemp > made; touch begun; sleep 0.3; ls "$(cat made)"'
    const running = second.run('sh', ['-c', script])
    await expect.poll(() => existsSync(join(rootDir, 'begun')), { interval: 10 }).toBe(true)
    await first.close()
    expect(await running).toMatchObject({ status: 'exited', exitCode: 0 })
    expect(await second.run('true')).toMatchObject({ exitCode: 0 })
  })

  test('closes itself once it was forgotten, and never under a command', async () => {
    const rootDir = newRoot()
    const options = { rootDir, isolation, warn() {} }
    const before = directories()
    const running = (await createSandbox(options)).run('sh', [
      '-c',
      'touch begun; sleep 0.3; echo done > ~/.cache-of-mine; cat ~/.cache-of-mine; rm ~/.cache-of-mine',
    ])
    for (let round = 0; round < 20; round += 1) await collectGarbage()
    expect(await running).toMatchObject({ status: 'exited', stdout: 'done\n' })
    for (let count = 0; count < 5; count += 1) await (await createSandbox(options)).run('true')
    expect(descriptorsOf(rootDir)).toBeGreaterThan(0)
    await expect
      .poll(async () => {
        await collectGarbage()
        return [descriptorsOf(rootDir), directories()]
      })
      .toEqual([0, before])
  })
})

describeNetworks('a sandbox with hosts', (isolation) => {
  test('removes the directory of its sockets', async () => {
    const before = directories()
    const network = { allow: ['example.com'] }
    const sandbox = await createSandbox({ rootDir: newRoot(), isolation, network, warn() {} })
    expect(await sandbox.run('true')).toMatchObject({ exitCode: 0 })
    expect(directories().some((name) => name.startsWith('egress-'))).toBe(true)
    await sandbox.close()
    expect(directories()).toEqual(before)
  })
})

describe.runIf(process.platform === 'linux')('files that were forgotten', () => {
  test('release their root, once what they do has ended', async () => {
    const rootDir = newRoot()
    const large = 'x'.repeat(3_000_000)
    const written = createSandboxFiles({ rootDir }).write('large', large)
    for (let count = 0; count < 20; count += 1) createSandboxFiles({ rootDir })
    expect(descriptorsOf(rootDir)).toBeGreaterThanOrEqual(21)
    for (let round = 0; round < 5; round += 1) await collectGarbage()
    await written
    expect(readFileSync(join(rootDir, 'large'), 'utf8')).toBe(large)
    await expect
      .poll(async () => {
        await collectGarbage()
        return descriptorsOf(rootDir)
      })
      .toBe(0)
  })

  test('stay open as long as one of their methods is in use', async () => {
    const rootDir = newRoot()
    const { write, readText } = createSandboxFiles({ rootDir })
    for (let round = 0; round < 5; round += 1) await collectGarbage()
    await write('a', 'a')
    expect(await readText('a')).toBe('a')
  })
})
