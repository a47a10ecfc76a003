import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Confinement, declareIf, describeConfined } from '../fixtures/confinement.ts'

/** A root with a neighbour that every user may write, so that only isolation stands before it. */
function layOut(confinement: Confinement): { root: string; outside: string; victim: string } {
  const project = confinement.directory()
  // A name that stands beside no other process's folder: one writer goes through them all, and without isolation gets there.
  const [root, outside] = [join(project, 'root'), join(project, `outside-${process.pid}`)]
  for (const directory of [project, root, outside]) {
    mkdirSync(directory, { recursive: true })
    chmodSync(directory, 0o777)
  }
  const victim = join(outside, 'victim')
  writeFileSync(victim, 'untouched')
  chmodSync(victim, 0o666)
  // The user's own file, and so also its permissions.
  const { uid, gid } = statSync(project)
  chownSync(victim, uid, gid)
  symlinkSync(outside, join(root, 'out'))
  symlinkSync(victim, join(root, 'victim-link'))
  return { root, outside, victim }
}

const writers: Readonly<Record<string, (outside: string) => string>> = {
  'a redirection': (outside) => `echo changed > ${outside}/victim`,
  'a new file': (outside) => `echo new > ${outside}/new`,
  'a directory made first': (outside) => `mkdir -p ${outside}; echo changed > ${outside}/victim`,
  'a link in the root': () =>
    `echo changed > victim-link; echo changed > out/victim; echo new > out/new`,
  '/proc/1/root': (outside) => `echo changed > /proc/1/root${outside}/victim`,
  'the working directory of another process': (outside) =>
    `for d in /proc/[0-9]*/cwd; do echo changed > $d/../${basename(outside)}/victim; done`,
  '/proc/self/root': (outside) => `echo changed > /proc/self/root${outside}/victim`,
  removal: (outside) => `rm -rf ${outside} out/victim`,
  renaming: (outside) => `mv ${outside}/victim ${outside}/moved; mv out/victim out/moved`,
  'a hard link': (outside) => `ln ${outside}/victim hard && echo changed > hard`,
  'changed permissions': (outside) =>
    `chmod 600 ${outside}/victim out/victim; touch -d @0 ${outside}/victim out/victim`,
}

describeConfined('a file beside the root', (confinement) => {
  test.each(Object.entries(writers))('is not changed by %s', async (_, writer) => {
    const { root, outside, victim } = layOut(confinement)
    const before = statSync(victim)
    await confinement.run(root, ['sh', '-c', writer(outside)])
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(readdirSync(outside)).toEqual(['victim'])
    const after = statSync(victim)
    expect([after.mode, after.mtimeMs, after.nlink]).toEqual([
      before.mode,
      before.mtimeMs,
      before.nlink,
    ])
  })

  // The first process of this machine may have a tree of its own, and refuses ordinary users: no control there.
  const controlled = Object.entries(writers).filter(([name]) => name !== '/proc/1/root')
  test.each(controlled)('is changed by %s without isolation', async (_, writer) => {
    const { root, outside, victim } = layOut(confinement)
    const before = statSync(victim)
    await confinement.runFreely(root, ['sh', '-c', writer(outside)])
    const state = (): unknown[] => {
      const { mode, mtimeMs, nlink } = statSync(victim)
      return [readFileSync(victim, 'utf8'), readdirSync(outside), mode, mtimeMs, nlink]
    }
    const unchanged = ['untouched', ['victim'], before.mode, before.mtimeMs, before.nlink]
    expect(existsSync(victim) ? state() : 'gone').not.toEqual(unchanged)
  })
})

describeConfined('the system', (confinement) => {
  const name = `smithers-test-${process.pid}`

  test('is not written: not its programs, settings, temporary directories, nor home', async () => {
    const places = [
      '/',
      '/usr',
      '/usr/bin',
      '/etc',
      '/tmp',
      '/var/tmp',
      '/dev/shm',
      '/root',
      '/home',
      confinement.home,
    ]
    const script = places.map((place) => `echo x > ${place}/${name}`).join('; ')
    await confinement.run(confinement.directory(), ['sh', '-c', script])
    expect(places.filter((place) => existsSync(join(place, name)))).toEqual([])
  })

  test('stays read-only to a remount', async () => {
    const script = `mount -o remount,rw /usr; mount -o remount,rw /; mount -o remount,rw /proc/sys; echo x > /usr/${name}; echo x > /${name} && echo written`
    const { stdout } = await confinement.run(confinement.directory(), ['sh', '-c', script])
    expect(stdout).toBe('')
    expect(existsSync(`/usr/${name}`)).toBe(false)
  })

  // Opens and closes: nothing is written even where it succeeds.
  const openSettings = [
    '/usr/bin/python3',
    '-c',
    `
import os
opened = []
for top in ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/irq", "/proc/bus", "/proc/driver", "/proc/scsi", "/sys"):
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            try:
                os.close(os.open(path, os.O_WRONLY))
                opened.append(path)
            except OSError:
                pass
for path in ("/proc/sysrq-trigger",):
    if os.access(path, os.W_OK): opened.append(path)
print(len(opened), *opened[:5])
`,
  ] as const

  test('has no kernel setting that opens for writing', async () => {
    const { stdout } = await confinement.run(confinement.directory(), openSettings)
    expect(stdout.trim()).toBe('0')
  })

  declareIf(confinement.user === 'root', () => {
    test('has some that open to root without isolation', async () => {
      const { stdout } = await confinement.runFreely(confinement.directory(), openSettings)
      expect(Number.parseInt(stdout, 10)).toBeGreaterThan(0)
    })
  })
})

describeConfined('the root', (confinement) => {
  test('is written and read, and keeps what was written', async () => {
    const root = confinement.directory()
    const { stdout } = await confinement.run(root, [
      'sh',
      '-c',
      'mkdir a && echo kept > a/b && cat a/b',
    ])
    expect(stdout).toBe('kept\n')
    expect(readFileSync(join(root, 'a/b'), 'utf8')).toBe('kept\n')
  })

  test('holds nothing afterwards that the command did not write', async () => {
    const root = confinement.directory()
    const policy = { protect: ['.git/hooks', '.npmrc', 'a/b/c'], deny: ['.env', 'secrets/key.pem'] }
    const { status } = await confinement.run(root, ['true'], { policy })
    expect(status).toBe(0)
    expect(readdirSync(root)).toEqual([])
  })
})
