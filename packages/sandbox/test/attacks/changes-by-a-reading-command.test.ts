import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'
import { openListeners } from '../fixtures/listeners.ts'

const reading = { policy: { access: 'read' } } as const

const changes: Readonly<Record<string, string>> = {
  'a redirection': 'echo changed > file',
  'a new file': 'echo new > new',
  'a new directory': 'mkdir new',
  removal: 'rm -f file',
  renaming: 'mv file moved',
  'a hard link': 'ln file linked && echo changed > linked',
  'changed permissions and times': 'chmod 600 file; touch -d @0 file',
  'a remount': 'mount -o remount,rw . && echo changed > file',
  '/proc/self/cwd': 'echo changed > /proc/self/cwd/file',
}

describeConfined('the root of a command that may only read', (confinement) => {
  test.each(Object.entries(changes))('is not changed by %s', async (_, script) => {
    const root = confinement.directory()
    const file = join(root, 'file')
    writeFileSync(file, 'untouched', { mode: 0o666 })
    const state = (): unknown[] => {
      const { mode, mtimeMs, nlink } = statSync(file)
      return [readdirSync(root), readFileSync(file, 'utf8'), mode, mtimeMs, nlink]
    }
    const before = state()
    await confinement.run(root, ['sh', '-c', script], reading)
    expect(state()).toEqual(before)
  })

  test('is read, from a directory in it too', async () => {
    const root = confinement.directory()
    mkdirSync(join(root, 'inner'))
    writeFileSync(join(root, 'inner/file'), 'a needle\n')
    const { status, stdout } = await confinement.run(root, ['grep', '-rn', 'needle', '.'], {
      ...reading,
      cwd: join(root, 'inner'),
    })
    expect([status, stdout]).toEqual([0, './file:1:a needle\n'])
  })
})

describeConfined(
  'a denied name, to a command that may only read',
  (confinement) => {
    test('is hidden', async () => {
      const root = confinement.directory()
      mkdirSync(join(root, 'secrets'))
      writeFileSync(join(root, 'secrets/key'), 'the secret')
      writeFileSync(join(root, '.env'), 'the secret')
      const { stdout } = await confinement.run(root, ['sh', '-c', 'cat .env secrets/key'], {
        policy: { access: 'read', deny: ['.env', 'secrets'] },
      })
      expect(stdout).toBe('')
    })
  },
  // Landlock grants whole directories, and the report says DENIED_NAMES_READABLE.
  ['namespaces', 'bubblewrap'],
)

describeConfined('the surroundings of a command that may only read', (confinement) => {
  test('are the programs of the system and nothing else, none of it to be written', async () => {
    const root = confinement.directory()
    const places = ['/etc', '/proc', '/dev', '/home', '/root', '/var', '/sys', '/run']
    const script = `ls -d ${places.join(' ')} 2>/dev/null; for d in / /usr /tmp ${confinement.home}; do echo x > $d/smithers-${process.pid} && echo wrote $d; done`
    const { stdout } = await confinement.run(root, ['sh', '-c', script], reading)
    // Node's own directory, which these tests make readable, may lie in the home.
    const own = places.filter((place) => confinement.node.startsWith(`${place}/`))
    expect(stdout.split('\n').filter((line) => line !== '' && !own.includes(line))).toEqual([])
    expect(existsSync(`/usr/smithers-${process.pid}`)).toBe(false)
  })

  test('include no network', async () => {
    const outside = await openListeners(confinement.directory())
    try {
      const program = `
import socket
for family, where in ((socket.AF_INET, ("127.0.0.1", ${outside.port})), (socket.AF_UNIX, "\\0${outside.abstractName}")):
    try:
        s = socket.socket(family)
        s.connect(where)
        s.send(b"sent")
    except OSError: pass
`
      const argv = ['/usr/bin/python3', '-c', program] as const
      await confinement.run(confinement.directory(), argv, reading)
      expect(await outside.received()).toEqual([])
      await confinement.runFreely(confinement.directory(), argv)
      expect(await outside.received()).toEqual(['sent', 'sent'])
    } finally {
      outside.close()
    }
  })
})
