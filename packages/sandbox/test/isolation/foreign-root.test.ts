import { chmodSync, chownSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declareIf, describeConfined } from '../fixtures/confinement.ts'
import { createSandbox } from '../../src/create-sandbox.ts'

describeConfined('the root of another user', (confinement) => {
  declareIf(confinement.user === 'root', () => {
    test.for([
      { mode: 0o755, writes: false },
      { mode: 0o777, writes: true },
    ])('with mode $mode is reported exactly when commands cannot write it', async (row) => {
      const rootDir = confinement.directory()
      chownSync(rootDir, 12_345, 12_345)
      chmodSync(rootDir, row.mode)
      const sandbox = await createSandbox({
        rootDir,
        isolation: { require: [], backend: confinement.backend },
        warn: () => {},
      })
      const { exitCode } = await sandbox.run('touch', ['written'])
      await sandbox.close()
      expect([exitCode === 0, existsSync(join(rootDir, 'written'))]).toEqual([
        row.writes,
        row.writes,
      ])
      const codes = sandbox.report.notEnforced.map(({ code }) => code)
      expect(codes.includes('ROOT_OF_ANOTHER_USER')).toBe(!row.writes)
    })
  })

  declareIf(confinement.user !== 'root', () => {
    test('is not what an ordinary user has: the directory is their own', async () => {
      expect(await confinement.reportedCodes({})).not.toContain('ROOT_OF_ANOTHER_USER')
    })
  })
})
