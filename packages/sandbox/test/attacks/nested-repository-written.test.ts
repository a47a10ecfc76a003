import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

const denied = { code: 'TOOL_PATH_DENIED' }

/** What git or its owner would run or follow, in a repository at any depth. */
const planted = [
  'sub/.git/config',
  'sub/.git/config.worktree',
  'sub/.git/commondir',
  'sub/.git/hooks/post-checkout',
  'sub/.git/info/attributes',
  'a/b/c/.git/hooks/pre-commit',
  'a/b/c/.git/modules/m/config',
  'sub/.git/modules/m/.git/config',
  'sub/.git/rebase-merge/git-rebase-todo',
  '.git/rebase-merge/git-rebase-todo',
  'a/b/.git',
]

function place(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

describe('a repository below the root', () => {
  it.each(planted)('is not given %s by a file method', async (path) => {
    const { root, files } = createWorkspace({ 'evil.txt': 'evil' })
    mkdirSync(join(root, dirname(path)), { recursive: true })
    await expect(files.write(path, 'evil')).rejects.toMatchObject(denied)
    await expect(files.open(path, { access: 'write', create: true })).rejects.toMatchObject(denied)
    await expect(files.rename('evil.txt', path)).rejects.toMatchObject(denied)
    expect(existsSync(join(root, path))).toBe(false)
    expect(readFileSync(join(root, 'evil.txt'), 'utf8')).toBe('evil')

    // The control: where nothing is protected, it is written.
    const free = createWorkspace({}, { protect: 'none' })
    await free.files.write(path, 'evil')
    expect(readFileSync(join(free.root, path), 'utf8')).toBe('evil')
  })

  // Removing a file `.git` takes away what would be trusted.
  it.each(planted.filter((path) => !path.endsWith('/.git')))('keeps %s as it was', async (path) => {
    const { root, files } = createWorkspace({})
    place(root, path, 'honest')
    await expect(files.updateText(path, () => 'evil')).rejects.toMatchObject(denied)
    await expect(files.remove(path)).rejects.toMatchObject(denied)
    await expect(files.rename(path, 'moved')).rejects.toMatchObject(denied)
    await expect(files.chmod(path, 0o755)).rejects.toMatchObject(denied)
    expect(readFileSync(join(root, path), 'utf8')).toBe('honest')
    expect(await files.readText(path)).toBe('honest')
  })

  it('is not made by giving a directory the name .git', async () => {
    const { root, files } = createWorkspace({})
    await files.mkdir('sub')
    // Without a configuration: with it, the directory would be a bare repository already.
    for (const name of ['HEAD', 'objects/x', 'refs/x', 'info/attributes']) {
      await files.write(`prepared/${name}`, 'evil')
    }
    await expect(files.rename('prepared', 'sub/.git')).rejects.toMatchObject(denied)
    expect(existsSync(join(root, 'sub/.git'))).toBe(false)
  })

  it('leaves names that only look like it, and all else in it, to the file methods', async () => {
    const { root, files } = createWorkspace({})
    execFileSync('git', ['init', '-q', join(root, 'sub')])
    const honest = [
      'sub/.gitignore',
      'sub/.github/notes.md',
      'sub/x.git/config',
      'sub/.git/description',
      'sub/config',
      'sub/hooks/pre-commit',
    ]
    for (const path of honest) {
      await files.write(path, 'mine')
      expect(readFileSync(join(root, path), 'utf8')).toBe('mine')
    }
    await files.rename('sub', 'moved')
    expect(existsSync(join(root, 'moved/.git/config'))).toBe(true)
    expect(await files.remove('moved', { recursive: true })).toBe(true)
  })
})
