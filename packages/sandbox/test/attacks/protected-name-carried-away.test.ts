import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'

const policy = {
  protect: ['.git/hooks', '.git/config', '.npmrc', 'deep/er/settings.json', 'not/there', 'linked'],
  deny: ['.env', 'vault', 'deep/er/key.pem'],
}
const files = {
  '.git/config': '[core]\n',
  '.git/hooks/pre-commit.sample': 'exit 0\n',
  '.npmrc': 'ignore-scripts=true\n',
  'deep/er/settings.json': '{}\n',
  '.env': 'KEY=hidden-1\n',
  'vault/inner/token': 'hidden-2\n',
  'deep/er/key.pem': 'hidden-3\n',
  'deep/er/free.txt': 'free\n',
}

function layOut(confinement: Confinement): string {
  const root = confinement.directory()
  const { uid, gid } = statSync(root)
  for (const [name, contents] of Object.entries(files)) {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contents)
    for (let own = path; own !== root; own = dirname(own)) chownSync(own, uid, gid)
  }
  symlinkSync('deep', join(root, 'linked'))
  return root
}

/** The protected files as they are now: contents at their very place. */
function current(root: string): Record<string, string | null> {
  const names = Object.keys(files).filter((name) => name !== 'deep/er/free.txt')
  const entries = names.map((name) => {
    const path = join(root, name)
    return [name, existsSync(path) ? readFileSync(path, 'utf8') : null] as const
  })
  return {
    ...Object.fromEntries(entries),
    hook: existsSync(join(root, '.git/hooks/pre-commit')) ? 'planted' : null,
  }
}

const attacks: Readonly<Record<string, string>> = {
  'writing to it':
    'echo x > .git/config; echo x >> .npmrc; echo x > .git/hooks/pre-commit; echo x > deep/er/settings.json',
  'removing it': 'rm -rf .git .npmrc deep .env vault',
  'renaming it': 'mv .npmrc n; mv .git/config c; mv .git/hooks h; mv .env e; mv vault v',
  'renaming the directory above it':
    'mv .git away; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; mv deep d; mv deep/er e',
  'replacing it by a rename':
    'echo x > new; mv -f new .npmrc; echo x > new; mv -f new .git/config; cp -rT .git g; mv -T g .git',
  'a link in its place': 'ln -sfn /tmp .git; ln -sf /tmp/x .npmrc; ln -sfn /tmp deep/er',
  'a hard link to it': 'ln .npmrc hard && echo x > hard; ln .git/config hard2 && echo x > hard2',
  'a copy of its directory':
    'cp -a .git copy; rm -rf .git; mv copy .git; echo x > .git/hooks/pre-commit',
  'permissions and times': 'chmod -R 777 .git deep .npmrc; chmod 644 .env vault; echo x > .npmrc',
  unmounting:
    'umount .npmrc; umount -l .git; umount .git/hooks; echo x > .npmrc; echo x > .git/hooks/pre-commit',
  'exchanging names': `/usr/bin/python3 -c '
import ctypes, os
os.mkdir("fake")
for name in (b".git", b"deep", b"deep/er", b".npmrc", b".env"):
    ctypes.CDLL(None).renameat2(-100, b"fake", -100, name, 2)'`,
}

describeConfined(
  'a protected name',
  (confinement) => {
    test.each(Object.entries(attacks))('is where and what it was after %s', async (_, attack) => {
      const root = layOut(confinement)
      const before = current(root)
      await confinement.run(root, ['sh', '-c', attack], { policy })
      expect(current(root)).toEqual(before)
    })

    test('changes under the same attacks without isolation', async () => {
      for (const name of [
        'writing to it',
        'removing it',
        'renaming it',
        'renaming the directory above it',
      ]) {
        const root = layOut(confinement)
        const before = current(root)
        await confinement.runFreely(root, ['sh', '-c', attacks[name] ?? ''], { policy })
        expect([name, current(root)]).not.toEqual([name, before])
      }
    })

    test('can be read, and its neighbours written', async () => {
      const root = layOut(confinement)
      const script =
        'cat .npmrc .git/config deep/er/settings.json; echo new > .git/HEAD; echo more >> deep/er/free.txt; mv deep/er/free.txt deep/er/moved.txt'
      const { stdout, stderr } = await confinement.run(root, ['sh', '-c', script], { policy })
      expect([stdout, stderr]).toEqual(['ignore-scripts=true\n[core]\n{}\n', ''])
      expect(readFileSync(join(root, '.git/HEAD'), 'utf8')).toBe('new\n')
      expect(readFileSync(join(root, 'deep/er/moved.txt'), 'utf8')).toBe('free\nmore\n')
    })

    test('that is denied shows nothing to any reader', async () => {
      const root = layOut(confinement)
      const script =
        'cat .env vault/inner/token deep/er/key.pem; chmod 777 .env vault; cat .env; ls -R vault; tar -cf - . | cat; grep -r hidden .; true'
      const inside = await confinement.run(root, ['sh', '-c', script], { policy })
      expect(inside.stdout).not.toMatch(/hidden|inner/)
      expect(inside.stderr).toContain('Permission denied')
      const outside = await confinement.runFreely(root, ['sh', '-c', script], { policy })
      expect(outside.stdout).toContain('hidden-1')
    })
  },
  ['namespaces', 'bubblewrap'],
)
