import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'

function layOut(confinement: Confinement, files: Readonly<Record<string, string>>): string {
  const root = confinement.directory()
  const { uid, gid } = statSync(root)
  for (const [name, contents] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
    for (let own = path; own !== root; own = dirname(own)) chownSync(own, uid, gid)
  }
  return root
}

/** Root looks wherever it wants, so these are attacks by ordinary users; as root they must fail all the same. */
describeConfined(
  'a directory whose permissions a command took away',
  (confinement) => {
    test.each(['311', '444', '000', '100'])(
      'hides what is denied in it from the next command (mode %s)',
      async (mode) => {
        const rootDir = layOut(confinement, {
          'cfg/.env': 'KEY=secret-1',
          'cfg/in/.env': 'secret-2',
        })
        const [first, second] = await confinement.sandbox(
          { rootDir, files: { deny: ['**/.env'] } },
          [
            `chmod ${mode} cfg; cat cfg/.env`,
            'chmod 755 cfg; chmod -R a+rX cfg; cat cfg/.env cfg/in/.env; echo ran',
          ],
        )
        expect(first?.output).not.toContain('secret')
        expect(second?.output).toContain('ran')
        expect(second?.output).not.toContain('secret')
      },
    )

    test.each(['000', '444'])(
      'keeps the protected names in it from the next command (mode %s)',
      async (mode) => {
        const rootDir = layOut(confinement, {
          '.git/config': '[core]\n',
          '.git/HEAD': 'ref: refs/heads/main\n',
          '.git/objects/info/x': '',
          '.git/refs/heads/x': '',
          '.git/hooks/pre-commit': 'honest',
          '.husky/x': 'honest',
        })
        const [first, second] = await confinement.sandbox({ rootDir }, [
          `chmod ${mode} .git`,
          'chmod 755 .git; echo evil > .git/hooks/pre-commit; echo evil > .git/config; git config core.fsmonitor evil; echo ran',
        ])
        expect(second?.output).toContain('ran')
        // The owner, who is not always root, opens it again.
        chmodSync(join(rootDir, '.git'), 0o755)
        expect(readFileSync(join(rootDir, '.git/hooks/pre-commit'), 'utf8')).toBe('honest')
        expect(readFileSync(join(rootDir, '.git/config'), 'utf8')).toBe('[core]\n')
        if (confinement.user === 'root') return
        expect(first?.violations.map(({ message }) => message)).toContainEqual(
          expect.stringMatching(/cannot be examined after the command \(EACCES\)/),
        )
      },
    )

    test('that is the root is reported once, and told to the next command', async () => {
      const rootDir = layOut(confinement, { '.npmrc': 'honest', '.git/config': '[core]\n' })
      const [first, second] = await confinement.sandbox({ rootDir }, ['chmod 000 .', 'echo ran'])
      expect(second).toMatchObject({
        status: 'spawn-error',
        code: 'TOOL_SPAWN_FAILED',
        message: expect.stringContaining('may not be entered. Restore its permissions'),
      })
      expect(first?.violations.map(({ subject }) => subject)).toEqual(
        confinement.user === 'root' ? [] : ['.'],
      )
    })

    test('blocks nothing where no rule is concerned', async () => {
      const rootDir = layOut(confinement, { 'data/a': 'x', 'src/b': 'y' })
      const scripts = ['chmod 000 data', 'cat src/b; chmod 755 data; cat data/a; touch new']
      const [, second] = await confinement.sandbox({ rootDir }, scripts)
      expect(second).toMatchObject({ status: 'exited', output: 'yx', violations: [] })
      expect(existsSync(join(rootDir, 'new'))).toBe(true)
      const [first, withGlobs] = await confinement.sandbox(
        { rootDir, files: { deny: ['*.pem'] } },
        ['chmod 000 data', 'cat src/b'],
      )
      expect([first?.status, withGlobs?.output]).toEqual(['exited', 'y'])
    })
  },
  ['namespaces', 'bubblewrap'],
)
