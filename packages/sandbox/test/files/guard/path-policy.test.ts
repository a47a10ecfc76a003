import { describe, expect, it } from 'vitest'
import { canWalkDescriptors } from '../../../src/files/guard/beneath-tree.ts'
import { noFollowFlag } from '../../../src/files/guard/checked-tree.ts'
import { createPathPolicy, foldsCase } from '../../../src/files/guard/path-policy.ts'
import { resolveProtectedNames } from '../../../src/files/protected-names.ts'

const strict = {
  deny: [],
  protectedNames: [],
  maxLinks: 1,
  foldCase: false,
  normalizeUnicode: false,
}

describe('createPathPolicy', () => {
  it('treats names as equal when the volume does', () => {
    const deny = ['**/.env', 'caf\u00e9']
    const folding = createPathPolicy({ ...strict, deny, foldCase: true, normalizeUnicode: true })
    for (const path of ['.ENV', 'a/.Env', 'cafe\u0301', 'CAF\u00c9/x']) {
      expect(folding.denied(path), path).toBeDefined()
    }
    const exact = createPathPolicy({ ...strict, deny })
    for (const path of ['.ENV', 'cafe\u0301']) expect(exact.denied(path), path).toBeUndefined()
    const protecting = createPathPolicy({
      ...strict,
      protectedNames: ['.git/hooks'],
      foldCase: true,
    })
    expect(() => protecting.check('.GIT/Hooks/x', 'change')).toThrow('is protected')
    expect(() => protecting.check('.GIT/Hooks/x', 'read')).not.toThrow()
  })

  it.each([
    ['**/*.pem', 'a/b.pem', true],
    ['*.pem', 'a/b.pem', false],
    ['secrets', 'secrets/a/b', true],
    ['secrets/', 'secrets', true],
    ['./secrets/**', 'secrets/.hidden/x', true],
    ['/secrets', 'secrets/x', true],
    ['secrets', 'secrets-not', false],
    ['{a,b}/c', 'b/c/d', true],
    ['a/[xy]?', 'a/x1', true],
    ['**', 'anything', true],
    ['a', '', false],
  ])('matches %s with %s: %s', (glob, path, expected) => {
    expect(createPathPolicy({ ...strict, deny: [glob] }).denied(path) !== undefined).toBe(expected)
  })

  it('protects nothing, the given names, or the usual ones', () => {
    expect(resolveProtectedNames('none')).toEqual([])
    expect(resolveProtectedNames(['a'])).toEqual(['a'])
    expect(resolveProtectedNames('default')).toContain('.git/hooks')
  })
})

describe('the guard of a platform', () => {
  it('folds case where volumes usually do', () => {
    expect(foldsCase('darwin', 0)).toBe(true)
    expect(foldsCase('win32', 0)).toBe(true)
    expect(foldsCase('linux', 0xef53)).toBe(false)
    expect(foldsCase('linux', 0x2011bab0)).toBe(true)
  })

  it('makes macOS refuse a link in any component', () => {
    expect(noFollowFlag('darwin')).toBe(0x20000000)
    expect(noFollowFlag('win32')).toBe(0)
  })

  it.runIf(process.platform === 'linux')('uses descriptors only through a real /proc', () => {
    expect(canWalkDescriptors()).toBe(true)
    expect(canWalkDescriptors('/tmp')).toBe(false)
    expect(canWalkDescriptors('/nowhere')).toBe(false)
  })
})
