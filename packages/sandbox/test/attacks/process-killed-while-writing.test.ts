import { describe, expect, it } from 'vitest'
import { killWhileWriting } from '../fixtures/kill-while-writing.ts'

describe('a process that is killed while it writes', () => {
  // Short: `pnpm bench kills` does the same at least 200 times.
  it('leaves the old file or the new one, never a torn one', async () => {
    let versions = 0
    // On a busy machine the second version may not be complete before any of the kills: on until it was.
    while (versions < 2) {
      const result = await killWhileWriting({ kills: 8, method: 'write' })
      expect(result.torn).toBe(0)
      versions = result.versions
    }
    expect(versions).toBeGreaterThan(1)
  })

  it('tears files when they are written in place: the test would notice', async () => {
    const result = await killWhileWriting({ kills: Infinity, method: 'in-place', untilTorn: true })
    expect(result.torn).toBeGreaterThan(0)
  })
})
