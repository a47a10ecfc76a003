import { describe, expect, test } from 'vitest'
import { checkBasicPolicy } from '../../src/command-policy/basic-policy.ts'

const refused: readonly (readonly [code: string, ...argv: [string, ...string[]]])[] = [
  ['TOOL_NETWORK_DISABLED', 'curl', 'localhost'],
  ['TOOL_NETWORK_DISABLED', 'wget', '-q', 'x'],
  ['TOOL_NETWORK_DISABLED', 'npm', 'test'],
  ['TOOL_NETWORK_DISABLED', 'bun', 'run', 'x'],
  ['TOOL_NETWORK_DISABLED', 'pip', 'install', 'x'],
  ['TOOL_NETWORK_DISABLED', '/usr/bin/curl', 'x'],
  ['TOOL_NETWORK_DISABLED', './node_modules/.bin/npm', 'x'],
  ['TOOL_NETWORK_DISABLED', 'python3', 'fetch.py', 'http://127.0.0.1/'],
  ['TOOL_NETWORK_DISABLED', 'node', 'x.mjs', 'HTTPS://example.com'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'push'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'pull', '--rebase'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'fetch', 'origin'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'clone', '../other'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'remote', '-v'],
  ['TOOL_GIT_REMOTE_DISABLED', '/usr/bin/git', 'push'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-C', 'sub', 'push'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '--git-dir', 'x/.git', '--no-pager', 'fetch'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'core.pager=cat', 'pull'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '--exec-path=/tmp', '-P', 'push'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'ls-remote', 'origin'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'submodule', 'update', '--init'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'submodule', '--quiet', 'add', '../x'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'archive', '--remote=origin', 'HEAD'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'archive', '--remote', 'origin', 'HEAD'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'alias.x=!curl localhost', 'x'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'Alias.X=push --force', 'x'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'alias.x=y -q', '-c', 'alias.y=push', 'x'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'alias.x=y', '-c', 'alias.y=!curl localhost', 'x'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', '-c', 'alias.push=status', 'push'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'subtree', 'push', '--prefix=lib', '../x', 'main'],
  ['TOOL_GIT_REMOTE_DISABLED', 'git', 'subtree', '--prefix=lib', 'pull', '../x', 'main'],
]

const passed: readonly (readonly [string, ...string[]])[] = [
  ['ls', 'bundle'],
  ['cat', 'pipeline.txt'],
  ['echo', 'pippin'],
  ['echo', 'curl', 'npm'],
  ['grep', '-rn', 'see https://example.com'],
  ['git'],
  ['git', 'status'],
  ['git', '-c', 'alias.x=y', '-c', 'alias.y=x', 'x'],
  ['git', '-c', 'alias.x=y', '-c', 'alias.y=status', 'x', 'push'],
  ['git', 'subtree', 'split', '--prefix=lib'],
  ['git', '--no-pager', 'diff'],
  ['git', 'log', '--grep=fetch'],
  ['git', 'log', '--grep', 'push'],
  ['git', 'commit', '-m', 'fetch upstream'],
  ['git', 'stash', 'push'],
  ['git', 'stash', 'push', '-m', 'remote'],
  ['git', '-C', 'push', 'status'],
  ['git', '-c', 'user.name=clone', 'commit', '-m', 'x'],
  ['git', 'checkout', 'fetch'],
  ['git', 'submodule', 'status'],
  ['git', 'archive', 'HEAD'],
  ['git', '-c', 'alias.x=status --short', 'x'],
  ['mygit', 'push'],
  ['node', '--test'],
  ['sh', '-lc', 'node --test'],
]

describe('checkBasicPolicy', () => {
  test.each(refused.map(([code, ...argv]) => [argv.join(' '), code, argv] as const))(
    'refuses: %s (%s)',
    (_, code, argv) => {
      expect(checkBasicPolicy(argv)).toMatchObject({ code })
    },
  )

  test.each(passed.map((argv) => [argv.join(' '), argv] as const))(
    'lets through: %s',
    (_, argv) => {
      expect(checkBasicPolicy(argv)).toBeNull()
    },
  )

  test('names the matching argument and rule', () => {
    expect(checkBasicPolicy(['git', '-C', 'x', 'push'])).toEqual({
      code: 'TOOL_GIT_REMOTE_DISABLED',
      rule: 'git-remote',
      token: 'push',
      reason: '"git push" talks to another repository',
    })
  })
})
