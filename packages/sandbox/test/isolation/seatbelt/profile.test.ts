import { assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seatbeltProfile, type SeatbeltProfile } from '../../../src/isolation/seatbelt/profile.ts'

const base = {
  network: 'none',
  read: [],
  protect: [],
  deny: [],
  limits: { temporaryMb: 64 },
} as const

function profileOf(
  policy: Partial<Parameters<typeof seatbeltProfile>[0]['policy']> = {},
  rootDir = '/srv/p',
): SeatbeltProfile {
  return seatbeltProfile({
    rootDir,
    temporary: '/private/var/folders/x/T',
    policy: { ...base, ...policy },
  })
}

describe('seatbeltProfile', () => {
  test('denies by default, before anything is allowed', () => {
    expect(profileOf().profile.split('\n').slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
  })

  test('lets only the root and the temporary directory be written', () => {
    const { profile, parameters } = profileOf()
    const writes = profile
      .split('\n')
      .filter((line) => line.startsWith('(allow') && line.includes('file-write*'))
    expect(writes).toEqual([
      '(allow file-read* file-write* (subpath (param "ROOT")) (subpath (param "TEMPORARY")))',
    ])
    expect(parameters).toEqual({ ROOT: '/srv/p', TEMPORARY: '/private/var/folders/x/T' })
  })

  test('denies the network, or allows it when asked', () => {
    expect(profileOf().profile).toContain('(deny network*)')
    expect(profileOf().profile).not.toContain('(allow network')
    const host = profileOf({ network: 'host' }).profile
    expect(host).toContain('(allow network* system-socket)')
    expect(host).not.toContain('(deny network*)')
  })

  test('denies Apple events whatever the policy', () => {
    for (const network of ['none', 'host'] as const) {
      expect(profileOf({ network }).profile).toContain('(deny appleevent-send)')
    }
  })

  test('protects names after the rule that allows the root, and pins the directories above them', () => {
    const { profile, parameters } = profileOf({
      protect: ['.git/hooks', '.npmrc'],
      deny: ['a/b/.env'],
    })
    const lines = profile.split('\n')
    const root = lines.findIndex((line) => line.includes('file-write* (subpath (param "ROOT"))'))
    const after = lines.slice(root + 1)
    expect(after).toContain(
      '(deny file-write* (subpath (param "PROTECT_0")) (subpath (param "PROTECT_1")))',
    )
    expect(after).toContain(
      '(deny file-write-unlink (literal (param "PIN_0")) (literal (param "PIN_1")) (literal (param "PIN_2")))',
    )
    expect(after).toContain('(deny file-read* file-write* (subpath (param "DENY_0")))')
    expect(parameters).toMatchObject({
      PROTECT_0: '/srv/p/.git/hooks',
      PROTECT_1: '/srv/p/.npmrc',
      DENY_0: '/srv/p/a/b/.env',
      PIN_0: '/srv/p/.git',
      PIN_1: '/srv/p/a',
      PIN_2: '/srv/p/a/b',
    })
  })

  test('puts no path into its text, whatever the path contains', () => {
    assert(
      property(string(), (text) => {
        const hostile = `${text}")) (allow default) ((x "`
        const { profile, parameters } = profileOf(
          { read: [`/${hostile}`], protect: [hostile], deny: [hostile] },
          `/${hostile}`,
        )
        expect(profile).not.toContain('(allow default)')
        expect(Object.values(parameters)).toContain(`/${hostile}`)
        // Every line is one or more balanced forms.
        for (const line of profile.split('\n')) {
          expect(line.split('(').length).toBe(line.split(')').length)
        }
      }),
    )
  })
})
