import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newRoot } from '../fixtures/sandboxes.ts'

describeIsolations('a gigabyte of output', (isolation) => {
  test('costs the parent under 64 MB of memory', () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        '--conditions=@smithers/source',
        '--disable-warning=ExperimentalWarning',
        join(import.meta.dirname, '../fixtures/programs/print-a-lot.ts'),
        newRoot(),
        JSON.stringify(isolation),
      ],
      { encoding: 'utf8' },
    )
    expect(stderr).toBe('')
    const { growthMb, omittedBytes, kept } = JSON.parse(stdout)
    expect(growthMb).toBeLessThan(64)
    expect(kept).toBeLessThanOrEqual(200_000)
    expect(omittedBytes).toBeGreaterThan(999_800_000)
    expect(omittedBytes).toBeLessThan(1_000_000_000)
  })
})
