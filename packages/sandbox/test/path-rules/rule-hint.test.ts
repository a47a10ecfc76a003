import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { ruleHint } from '../../src/path-rules/rule-hint.ts'
import { mountsProtectedNames, newSandbox } from '../fixtures/sandboxes.ts'

const rootDir = '/work/root'
const strongest = await newSandbox()

describe('ruleHint', () => {
  test('names what the output names, or else what there is', () => {
    const mounted = Array.from({ length: 10 }, (_, index) => `.name-${index}`)
    const hint = ruleHint('cannot write .name-3: Device or resource busy', {
      mounted,
      denied: [],
      rootDir,
    })
    expect(hint).toContain('not change ".name-3": protected names')
    expect(ruleHint('EROFS', { mounted, denied: [], rootDir })).toContain(
      '".name-7" and 2 more: protected names',
    )
    expect(ruleHint('no such file', { mounted, denied: ['.env'], rootDir })).toBeUndefined()
    expect(ruleHint('Read-only file system', { mounted: [], denied: [], rootDir })).toBeUndefined()
  })

  test('names a deny rule where that was the cause', () => {
    const names = { mounted: ['.npmrc'], denied: ['.env', 'vault'], rootDir }
    const hint = ruleHint('cat: .env: Permission denied', names)
    expect(hint).toBe(
      'Commands may neither read nor change ".env": the option files.deny covers them.',
    )
  })

  test.each([
    ['sh: 1: cannot create /etc/passwd: Read-only file system', '/etc/passwd'],
    ["EROFS: read-only file system, open '/usr/x'", '/usr/x'],
  ])('does not blame protected names for %j', (output, path) => {
    const names = { mounted: ['.npmrc'], denied: [], rootDir }
    expect(ruleHint(output, names)).toBe(
      `Commands can change the root and temporary directories only, not "${path}". Use a path in the root.`,
    )
    const inside = `touch: cannot touch '${rootDir}/.npmrc': Read-only file system`
    expect(ruleHint(inside, names)).toContain('".npmrc": protected names')
  })

  test('is in the result of what it stopped', async ({ skip }) => {
    skip(!mountsProtectedNames(strongest), 'nothing here mounts protected names read-only')
    const sandbox = await newSandbox()
    execFileSync('git', ['init', '-q', sandbox.rootDir])
    const failed = await sandbox.run('git', ['config', '--file', '.git/hooks/x', 'user.name', 'me'])
    expect(failed.exitCode).not.toBe(0)
    expect(failed.hint).toContain('".git/hooks"')
    expect(failed.hint).toContain('files.protect')
    expect((await sandbox.run('git', ['status'])).hint).toBeUndefined()
    expect((await sandbox.run('false')).hint).toBeUndefined()
  })
})
