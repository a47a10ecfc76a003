import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}

function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), contents)
  }
}

/** What the user's own git makes of the root afterwards: whether it ran the planted program. */
function userRunsGit(root: string): boolean {
  try {
    execFileSync('git', ['status'], {
      cwd: root,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] },
    })
  } catch {
    // What it thinks of the repository does not matter.
  }
  return existsSync(join(root, 'pwned'))
}

const plant = 'git init -q evil && git -C evil config core.fsmonitor "touch $PWD/pwned; false" && '

describeIsolations('a repository that git is led to', (isolation) => {
  const subjects = (violations: readonly { subject: string }[]) =>
    violations.map(({ subject }) => subject)

  test('by a .git file is undone and reported', async () => {
    const sandbox = await newSandbox({ isolation })
    const { violations } = await sandbox.run('sh', [
      '-c',
      `${plant} echo "gitdir: evil/.git" > .git`,
    ])
    expect(userRunsGit(sandbox.rootDir)).toBe(false)
    expect(subjects(violations)).toContain('.git')
    const free = await newSandbox({ isolation, files: { protect: 'none' } })
    await free.run('sh', ['-c', `${plant} echo "gitdir: evil/.git" > .git`])
    expect(userRunsGit(free.rootDir)).toBe(true)
  })

  test('by a .git file that was there cannot be changed, nor can what it names', async () => {
    const sandbox = await newSandbox({ isolation })
    const root = sandbox.rootDir
    execFileSync('git', ['init', '-q', root])
    renameSync(join(root, '.git'), join(root, '.bare'))
    writeFileSync(join(root, '.git'), 'gitdir: .bare\n')
    const { violations, enforced } = await sandbox.run('sh', [
      '-c',
      `${plant} echo "gitdir: evil/.git" > .git; git config core.fsmonitor "touch $PWD/pwned; false"; echo x > .bare/hooks/pre-commit`,
    ])
    if (enforced.files === 'enforced') {
      expect(userRunsGit(root)).toBe(false)
      expect(existsSync(join(root, '.bare/hooks/pre-commit'))).toBe(false)
    } else expect(subjects(violations)).toContain('.git')
  })

  test('by commondir, worktrees or a bare root is undone and reported', async () => {
    const sandbox = await newSandbox({ isolation })
    const common = await sandbox.run('sh', ['-c', 'mkdir .git; echo ../evil/.git > .git/commondir'])
    expect(subjects(common.violations)).toEqual(['.git/commondir'])
    const tree = await sandbox.run('sh', [
      '-c',
      'mkdir -p .git/worktrees/x; echo ../../../evil > .git/worktrees/x/commondir; touch .git/worktrees/x/index',
    ])
    expect(subjects(tree.violations)).toEqual(['.git/worktrees/x/commondir'])
    const bare = await sandbox.run('sh', [
      '-c',
      'mkdir objects refs; echo x > HEAD; echo "[core] fsmonitor = evil" > config',
    ])
    expect(subjects(bare.violations)).toEqual(['config'])
  })

  test('as a submodule has its configuration and hooks protected, and can be committed to', async () => {
    const sandbox = await newSandbox({ isolation, env: { set: identity } })
    const root = sandbox.rootDir
    const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args])
    git('init', '-q')
    execFileSync('git', ['init', '-q', join(root, 'lib/sub')])
    mkdirSync(join(root, '.git/modules/lib'), { recursive: true })
    renameSync(join(root, 'lib/sub/.git'), join(root, '.git/modules/lib/sub'))
    put(root, { 'lib/sub/.git': 'gitdir: ../../.git/modules/lib/sub\n', 'lib/sub/a': 'a' })
    const honest = await sandbox.run('sh', ['-c', 'cd lib/sub && git add a && git commit -q -m a'])
    expect(honest).toMatchObject({ exitCode: 0, output: '', violations: [] })
    const config = join(root, '.git/modules/lib/sub/config')
    const before = readFileSync(config, 'utf8')
    const { violations, enforced } = await sandbox.run('sh', [
      '-c',
      'cd .git/modules/lib/sub; echo "[core] fsmonitor = evil" >> config; echo evil > hooks/pre-commit',
    ])
    if (enforced.files === 'enforced') expect(readFileSync(config, 'utf8')).toBe(before)
    else {
      expect(subjects(violations).toSorted()).toEqual([
        '.git/modules/lib/sub/config',
        '.git/modules/lib/sub/hooks/pre-commit',
      ])
    }
  })

  test('still works when used honestly: init, commit, stash, checkout, worktree', async () => {
    const sandbox = await newSandbox({ isolation, env: { set: identity } })
    const init = await sandbox.run('sh', [
      '-c',
      'git init -q -b main . && echo one > a && git add a',
    ])
    expect(init).toMatchObject({ exitCode: 0, output: '' })
    const use =
      'git commit -q -m one && echo two > a && git stash push -q && git stash pop -q && git checkout -q -b side && git commit -q -am two && git checkout -q main && git gc -q && git log --format=%s'
    expect(await sandbox.run('sh', ['-c', use])).toMatchObject({
      exitCode: 0,
      output: 'one\n',
      violations: [],
    })
    for (const name of ['x', 'y']) {
      const added = await sandbox.run('git', ['worktree', 'add', '-q', name, '-b', name])
      expect(added.exitCode).toBe(0)
    }
    const commit = await sandbox.run('sh', [
      '-c',
      'cd x && echo x > b && git add b && git commit -q -m x',
    ])
    expect(commit).toMatchObject({ exitCode: 0, violations: [] })
  })
})

describe('the file methods', () => {
  it('make no .git file and no bare repository', async () => {
    const denied = expect.objectContaining({ code: 'TOOL_PATH_DENIED' })
    const { root, files } = createWorkspace({ innocent: 'gitdir: evil' })
    for (const path of ['.git', 'HEAD', './.git']) {
      await expect(files.write(path, 'gitdir: evil'), path).rejects.toThrow(denied)
      await expect(files.open(path, { access: 'write', create: true }), path).rejects.toThrow(
        denied,
      )
      await expect(files.rename('innocent', path), path).rejects.toThrow(denied)
    }
    for (const name of ['commondir', 'modules/x/config', 'worktrees/x/commondir']) {
      await expect(files.write(`.git/${name}`, 'x'), name).rejects.toThrow(denied)
    }
    expect(existsSync(join(root, '.git'))).toBe(false)
    await files.write('sub/HEAD', 'a name like any other')
  })
})
