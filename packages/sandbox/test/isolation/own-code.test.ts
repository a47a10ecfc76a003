import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createSandbox } from '@smithers/sandbox'
import { ownCodeInRoot } from '../../src/isolation/own-code.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-own-code-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const ourPackage = join(import.meta.dirname, '../..')

describe('code of this package in the root', () => {
  const inRoot = { rootDir: base, protect: [], packageDir: join(base, 'lib/sandbox') } as const

  test.each(['namespaces', 'bubblewrap', 'landlock', 'seatbelt'] as const)(
    'is reported under %s, with the name to protect',
    (backend) => {
      const entry = ownCodeInRoot({ ...inRoot, backend })
      expect(entry).toMatchObject({ what: 'files', code: 'OWN_CODE_IN_ROOT' })
      expect(entry?.why).toContain('"lib/sandbox"')
    },
  )

  test('is no concern where nothing is confined, or where it lies elsewhere', () => {
    expect(ownCodeInRoot({ ...inRoot, backend: 'none' })).toBeNull()
    const elsewhere = { ...inRoot, packageDir: '/opt/sandbox', backend: 'landlock' } as const
    expect(ownCodeInRoot(elsewhere)).toBeNull()
  })

  test('is safe when it is protected by a mount, and not when it is only compared', () => {
    const options = { ...inRoot, protect: ['lib'] }
    expect(ownCodeInRoot({ ...options, backend: 'namespaces' })).toBeNull()
    expect(ownCodeInRoot({ ...options, backend: 'landlock' })?.fix).toContain('user namespaces')
  })

  test('includes a link to a package elsewhere, which a command can exchange', () => {
    const rootDir = join(base, 'linked')
    mkdirSync(join(rootDir, 'node_modules/@smithers'), { recursive: true })
    const entry = ownCodeInRoot({ rootDir, backend: 'namespaces', protect: [] })
    expect(entry?.why).toContain('"node_modules/@smithers"')
  })

  test('is found by the address of the code', async () => {
    const open = (rootDir: string) => createSandbox({ rootDir, warn: () => {} })
    const [ours, other] = [await open(ourPackage), await open(base)]
    await Promise.all([ours.close(), other.close()])
    const codes = [ours, other].map(({ report }) => report.notEnforced.map(({ code }) => code))
    const isConfined = ours.report.backend !== 'none'
    expect(codes[0]?.includes('OWN_CODE_IN_ROOT')).toBe(isConfined)
    expect(codes[1]).not.toContain('OWN_CODE_IN_ROOT')
  })
})
