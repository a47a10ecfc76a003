import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { protectionHint } from '../../src/path-rules/protection-hint.ts'
import { newSandbox } from '../fixtures/sandboxes.ts'

const strongest = await newSandbox()

describe('protectionHint', () => {
  test('names what the output names, or else what there is', () => {
    const mounted = Array.from({ length: 10 }, (_, index) => `.name-${index}`)
    const hint = protectionHint('cannot write .name-3: Device or resource busy', mounted)
    expect(hint).toContain('not change ".name-3": protected names')
    expect(protectionHint('EROFS', mounted)).toContain('".name-7" and 2 more: protected names')
    expect(protectionHint('no such file', mounted)).toBeUndefined()
    expect(protectionHint('Read-only file system', [])).toBeUndefined()
  })

  const { report } = strongest
  test.runIf(report.enforced.files === 'enforced')(
    'is in the result of what it stopped',
    async () => {
      const sandbox = await newSandbox()
      execFileSync('git', ['init', '-q', sandbox.rootDir])
      const failed = await sandbox.run('git', ['config', 'user.name', 'me'])
      expect(failed.exitCode).not.toBe(0)
      expect(failed.hint).toContain('".git/config"')
      expect(failed.hint).toContain('files.protect')
      expect((await sandbox.run('git', ['status'])).hint).toBeUndefined()
      expect((await sandbox.run('false')).hint).toBeUndefined()
    },
  )
})
