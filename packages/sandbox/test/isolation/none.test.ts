import { describe, expect, test } from 'vitest'
import { createNoIsolation } from '../../src/isolation/none.ts'

describe('createNoIsolation', () => {
  test('passes the command on as it is, with the environment of the request alone', () => {
    const request = {
      argv: ['echo', 'a', 'b'],
      cwd: '/work',
      rootDir: '/work',
      policy: { network: 'none', read: [], protect: [], deny: [], limits: { temporaryMb: 1 } },
      env: { A: '1' },
    } as const
    expect(createNoIsolation().wrap(request)).toEqual({
      file: 'echo',
      args: ['a', 'b'],
      env: { A: '1' },
      cwd: '/work',
      descriptors: [],
    })
  })

  test('claims nothing: each property is named as not enforced, with a remedy', async () => {
    const { usable, enforced, notEnforced } = await createNoIsolation().probe()
    expect(usable).toBe(true)
    expect(Object.values(enforced)).not.toContain('enforced')
    expect(notEnforced.map(({ what }) => what)).toEqual(Object.keys(enforced))
    expect(notEnforced.every(({ fix }) => fix.includes('bubblewrap'))).toBe(true)
  })
})
