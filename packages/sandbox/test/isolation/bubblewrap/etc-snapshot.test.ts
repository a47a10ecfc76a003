import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { etcSnapshot } from '../../../src/isolation/bubblewrap/etc-snapshot.ts'
import { systemMounts, type EtcEntries } from '../../../src/isolation/bubblewrap/system-mounts.ts'
import { describeConfined } from '../../fixtures/confinement.ts'

const rootDir = '/nowhere'

/** A program that prepares the settings, prints where, and ends by itself or waits to be killed. */
const program = `
const [settings, mounts] = await Promise.all(process.argv.slice(1).map((file) => import(file)))
console.log(settings.etcSnapshot(mounts.systemMounts('none').etc, { key: '', rootDir: '/nowhere' }))
process.stdin.resume()
`
const modules = ['etc-snapshot.ts', 'system-mounts.ts'].map((name) =>
  join(import.meta.dirname, '../../../src/isolation/bubblewrap', name),
)

function startPreparing(): {
  readonly child: ReturnType<typeof spawn>
  readonly printed: Promise<string>
} {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, ...modules],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const printed = once(child.stdout, 'data').then(([chunk]) => String(chunk).trim())
  return { child, printed }
}

describe.runIf(existsSync('/dev/shm'))('etcSnapshot', () => {
  const { etc } = systemMounts('none')

  test('holds each file, link and directory under its own name, and nothing else of /etc', () => {
    const directory = etcSnapshot(etc, { key: 'all', rootDir }) ?? ''
    for (const name of etc.files) {
      expect(readFileSync(join(directory, name.slice(5)))).toEqual(readFileSync(name))
    }
    for (const { name, target } of etc.links) {
      expect(readlinkSync(join(directory, name.slice(5)))).toBe(target)
    }
    for (const name of etc.directories) {
      expect(readdirSync(join(directory, name.slice(5)))).toEqual(readdirSync(name))
    }
    const names = [...etc.files, ...etc.links.map((link) => link.name), ...etc.directories]
    expect(readdirSync(directory)).toEqual(
      [...new Set(names.map((name) => name.split('/')[2] ?? ''))].toSorted(),
    )
    expect(lstatSync(dirname(directory)).mode & 0o777).toBe(0o700)
  })

  test('is made once, and again when a setting differs or the copy is gone', () => {
    const first = etcSnapshot(etc, { key: 'again', rootDir })
    expect(etcSnapshot(etc, { key: 'again', rootDir })).toBe(first)
    const fewer: EtcEntries = { ...etc, files: etc.files.slice(1) }
    const second = etcSnapshot(fewer, { key: 'again', rootDir })
    expect(second).not.toBe(first)
    rmSync(second ?? '', { recursive: true })
    const third = etcSnapshot(fewer, { key: 'again', rootDir })
    expect([third === second, existsSync(third ?? '')]).toEqual([false, true])
  })

  test.each(['/', '/dev', '/dev/shm'])(
    'is never made where commands of the root %s write',
    (root) => {
      expect(etcSnapshot(etc, { key: 'inside', rootDir: root })).toBeNull()
    },
  )

  test('goes with its process, and that of a killed one with the next that prepares', async () => {
    const killed = startPreparing()
    const left = await killed.printed
    // Not after its death: any other process of these tests may be the next.
    expect(existsSync(left)).toBe(true)
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')

    const ended = startPreparing()
    const removed = await ended.printed
    expect([existsSync(left), existsSync(removed)]).toEqual([false, true])
    ended.child.stdin?.end()
    await once(ended.child, 'exit')
    expect([existsSync(dirname(left)), existsSync(dirname(removed))]).toEqual([false, false])
  })
})

describeConfined(
  'the settings of a command',
  (confinement) => {
    const script =
      'cat /etc/passwd; readlink /etc/alternatives/awk; echo x > /etc/passwd; echo x > /etc/new; ls /etc'

    test('are the system’s, and read-only', async () => {
      const { stdout, stderr } = await confinement.run(confinement.directory(), [
        'sh',
        '-c',
        script,
      ])
      expect(stdout).toContain(readFileSync('/etc/passwd', 'utf8'))
      expect(stdout).toContain(readlinkSync('/etc/alternatives/awk'))
      expect(stderr.match(/Read-only file system/g)).toHaveLength(2)
      expect(stdout.split('\n')).not.toContain('shadow')
    })

    test('are joined by a directory of /etc that may be read', async () => {
      const { stdout } = await confinement.run(
        confinement.directory(),
        ['ls', '/etc/init.d', '/etc/passwd'],
        {
          policy: { read: ['/etc/init.d'] },
        },
      )
      for (const name of readdirSync('/etc/init.d')) expect(stdout.split('\n')).toContain(name)
      expect(stdout).toContain('/etc/passwd')
    })
  },
  ['bubblewrap'],
)
