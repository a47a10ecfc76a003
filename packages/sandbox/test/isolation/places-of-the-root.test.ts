import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

// Where projects lie: in images (/usr/src/app, /opt), in temporary directories, below home, below a readable directory.
const parents = ['/tmp', '/var/tmp', '/usr/src', '/opt', '/srv', '/mnt', homedir()]

describeConfined('a root', (confinement) => {
  const usable = confinement.user === 'root' ? parents : ['/tmp', '/var/tmp']

  test.each(usable.filter((parent) => existsSync(parent)))(
    'in %s is written, and nothing beside it',
    async (parent) => {
      const base = mkdtempSync(join(parent, 'smithers-place-'))
      const own = confinement.user === 'root' ? base : confinement.directory()
      try {
        const script = `echo kept > file; echo x > ${parent}/smithers-beside; echo x > ../smithers-beside; pwd -P; ls -A`
        const { stdout } = await confinement.run(own, ['sh', '-c', script])
        expect(stdout).toBe(`${own}\nfile\n`)
        expect(readFileSync(join(own, 'file'), 'utf8')).toBe('kept\n')
        expect(existsSync(join(parent, 'smithers-beside'))).toBe(false)
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    },
  )

  test('that is the home directory keeps it, and tools below it work', async () => {
    const home = confinement.directory()
    const { stdout } = await confinement.run(
      home,
      ['sh', '-c', 'echo x > "$HOME/file"; ls -A; node --version'],
      {
        env: { HOME: home },
      },
    )
    expect(stdout).toMatch(/^file\nv\d+/)
    expect(readFileSync(join(home, 'file'), 'utf8')).toBe('x\n')
  })

  test('below a readable directory is written while that directory is only read', async () => {
    const parent = confinement.directory()
    const root = mkdtempSync(join(parent, 'root-'))
    const { uid, gid } = statSync(parent)
    chownSync(root, uid, gid)
    const { stdout } = await confinement.run(
      root,
      ['sh', '-c', 'echo x > ../outside; ls ..; echo x > inside; ls'],
      {
        policy: { read: [parent] },
      },
    )
    expect(existsSync(join(parent, 'outside'))).toBe(false)
    expect(stdout).toContain(root.slice(parent.length + 1))
  })
})
