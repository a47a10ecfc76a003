import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { confinePrograms, confineSources } from '../../../src/isolation/confine/built-programs.ts'

const packageDir = join(import.meta.dirname, '../../..')
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

describe('the committed programs', () => {
  test('were built from the sources of this checkout', () => {
    const build = readFileSync(join(packageDir, 'native/build.sh'), 'utf8')
    const names = /^sources='([^']+)'/m.exec(build)?.[1]?.split(/\s+/) ?? []
    expect(names.length).toBeGreaterThan(10)
    const sources = names.map((name) => readFileSync(join(packageDir, 'native', name)))
    expect(sha256(Buffer.concat(sources))).toBe(confineSources)
  })

  test.each(Object.entries(confinePrograms))(
    'have the hash that is checked before a start (%s)',
    (name, hash) => {
      const path = join(packageDir, `bin/linux-${name}/confine`)
      expect(sha256(readFileSync(path))).toBe(hash)
      expect(statSync(path).mode & 0o111).toBe(0o111)
      expect(readFileSync(join(packageDir, 'native/BUILT-WITH'), 'utf8')).toContain(
        `${name} ${hash}`,
      )
    },
  )
})
