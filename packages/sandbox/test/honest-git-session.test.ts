import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from './fixtures/sandboxes.ts'

const environment = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...environment },
  })
}

const lines = (changed: Record<number, string> = {}): string =>
  Array.from({ length: 30 }, (_, index) => changed[index] ?? `key${index}=value`).join('\n') + '\n'

/** A repository whose branches differ in protected files: changed, added, removed, turned into a link. */
function repository(): string {
  const root = newRoot()
  const commit = (message: string, files: Record<string, string | null>): void => {
    for (const [name, content] of Object.entries(files)) {
      if (content === null) git(root, 'rm', '-q', name)
      else {
        execFileSync('mkdir', ['-p', join(root, name, '..')])
        writeFileSync(join(root, name), content)
      }
    }
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', message)
  }
  git(root, 'init', '-q', '-b', 'main')
  commit('base', { '.npmrc': lines(), 'AGENTS.md': 'base\n', 'src/a': 'a\n' })
  git(root, 'branch', 'feature')
  git(root, 'branch', 'settings')
  commit('main changes the top', { '.npmrc': lines({ 2: 'top=main' }), 'src/b': 'b\n' })
  git(root, 'checkout', '-q', 'feature')
  commit('feature changes the end', { '.npmrc': lines({ 27: 'end=feature' }) })
  commit('feature adds', {
    '.vscode/settings.json': '{}\n',
    '.github/workflows/ci.yml': 'on: push\n',
  })
  commit('feature changes the middle', {
    '.npmrc': lines({ 27: 'end=feature', 14: 'middle=feature' }),
  })
  git(root, 'checkout', '-q', 'settings')
  commit('settings removes', { 'AGENTS.md': null, '.husky/pre-push': 'exit 0\n' })
  git(root, 'update-index', '--chmod=+x', '.husky/pre-push')
  git(root, 'commit', '-qm', 'executable')
  git(root, 'reset', '-q', '--hard')
  git(root, 'checkout', '-q', 'main')
  return root
}

/** Sixty commands; each must end as it does outside. */
const session: readonly string[] = `
git status --short
git checkout -q feature
git log --oneline
git checkout -q main
git diff main feature --stat
git checkout -q settings
git checkout -q main
git checkout -q -b topic
git merge -q -m merged feature
git log --oneline --graph
git checkout -q main
git merge -q --no-ff -m settings settings
git status --short
git reset -q --hard HEAD~1
git status --short
git checkout -q feature
git rebase -q main
git status --short
git checkout -q -b picks main
git cherry-pick topic~1^2
git status --short
git cherry-pick feature~2
git reset -q --hard main
git checkout -q topic
git revert --no-edit -m 1 HEAD
git status --short
git reset -q --hard HEAD~1
git checkout -q settings -- .husky
git reset -q --hard
git switch -q settings
git switch -q -
git stash list
echo c > src/c
git add src/c
git stash push -q
git checkout -q settings
git stash pop -q
git commit -q -m c
git tag v1
git checkout -q v1
git checkout -q main
git branch -m picks chosen
git config user.name Someone
git config branch.main.description text
git remote add origin ./elsewhere
git branch -d chosen
git bisect start topic main
git bisect reset
git show --stat topic
git checkout -q feature
git checkout -q main -- .npmrc
git commit -q -m "main's settings"
git revert --no-edit HEAD
git checkout -q --detach topic
git checkout -q -B again feature
git merge -q -m again settings
git rm -q AGENTS.md
git commit -q -am end
git gc -q
git fsck --no-progress
`
  .trim()
  .split('\n')

function stateOf(root: string): unknown {
  const files = git(root, 'ls-files', '-s')
  return {
    files,
    contents: git(root, 'ls-files')
      .trim()
      .split('\n')
      .map((name) => [name, readFileSync(join(root, name), 'utf8')]),
    status: git(root, 'status', '--porcelain=2', '--branch'),
    refs: git(root, 'for-each-ref', '--format=%(refname) %(objectname)'),
    head: git(root, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD'),
    config: git(root, 'config', '--local', '--list'),
    directory: readdirSync(root).toSorted(),
  }
}

describeIsolations('an honest git session', (isolation) => {
  test('ends in the same tree, index and history as outside, without a violation', async () => {
    const outside = repository()
    const inside = newRoot()
    cpSync(outside, inside, { recursive: true, verbatimSymlinks: true })
    const sandbox = await newSandbox({
      rootDir: inside,
      isolation,
      env: { set: { ...environment, HOME: '/nonexistent' } },
    })
    expect(session.length).toBeGreaterThanOrEqual(59)
    let succeeded = 0
    for (const command of session) {
      const result = await sandbox.run('sh', ['-c', command])
      const violations = result.violations.map(({ message }) => message)
      let exitCode = 0
      let output = ''
      try {
        output = execFileSync('sh', ['-c', `${command} 2>&1`], {
          cwd: outside,
          encoding: 'utf8',
          env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...environment },
        })
      } catch (error) {
        exitCode = (error as { status: number }).status
        output = (error as { stdout: string }).stdout
      }
      expect({ command, violations, exitCode: result.exitCode, printed: result.output }).toEqual({
        command,
        violations: [],
        exitCode,
        printed: exitCode === 0 ? output : expect.anything(),
      })
      if (exitCode === 0) succeeded += 1
      expect({ command, state: stateOf(inside) }).toEqual({ command, state: stateOf(outside) })
    }
    expect(succeeded).toBeGreaterThan(50)
  })
})
