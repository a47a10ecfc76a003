import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, constantFrom, property } from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRootAt } from '../../src/files/open-root.ts'
import { createRootStatCache } from '../../src/path-rules/root-stat-cache.ts'

let rootDir: string
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'smithers-look-'))
  mkdirSync(join(rootDir, 'a/b'), { recursive: true })
  writeFileSync(join(rootDir, 'a/b/c'), '')
  writeFileSync(join(rootDir, 'file'), '')
  symlinkSync('a', join(rootDir, 'link'))
  symlinkSync('nowhere', join(rootDir, 'broken'))
})
afterEach(() => rmSync(rootDir, { recursive: true, force: true }))

function seenBySystem(name: string): number | undefined {
  try {
    // Not joined: that would take ".." out before the system sees it.
    return lstatSync(`${rootDir}/${name}`, { throwIfNoEntry: false })?.ino
  } catch {
    return undefined
  }
}

function seen(names: readonly string[]): (number | undefined)[] {
  const root = createRootStatCache(openRootAt(rootDir, undefined))
  return names.map((name) => {
    const found = root.at(name)
    return typeof found === 'string' ? Number.NaN : found?.ino
  })
}

describe('lookAtRoot', () => {
  const component = constantFrom('a', 'b', 'c', 'file', 'link', 'broken', 'missing', '.', '..', '')
  const name = array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

  test.each([
    ['few entries', () => {}],
    ['an entry that is not ASCII', () => writeFileSync(join(rootDir, 'ä'), '')],
    ['more entries than are listed', () => addMany()],
  ])('says of every name what the system says, with %s', (_, change) => {
    change()
    // Once more: what the first look has learnt about the root must not change the answers of the second.
    for (let round = 0; round < 2; round += 1) {
      assert(
        property(array(name, { minLength: 1, maxLength: 5 }), (names) => {
          expect(seen(names)).toEqual(names.map(seenBySystem))
        }),
      )
    }
  })

  test('sees what appeared since the look before', () => {
    expect(seen(['.npmrc'])).toEqual([undefined])
    writeFileSync(join(rootDir, '.npmrc'), '')
    expect(seen(['.npmrc'])).toEqual([seenBySystem('.npmrc')])
  })
})

function addMany(): void {
  for (let index = 0; index < 401; index += 1) writeFileSync(join(rootDir, `many-${index}`), '')
}
