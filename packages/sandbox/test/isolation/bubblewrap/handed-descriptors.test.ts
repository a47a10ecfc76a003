import { closeSync, fstatSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import {
  anonymousFile,
  sharedAnonymousFile,
} from '../../../src/isolation/bubblewrap/handed-descriptors.ts'

describe('anonymousFile', () => {
  test.each([0, 1, 200_000])('hands a child all of %d bytes from the start', (size) => {
    const contents = Buffer.alloc(size, 'abc')
    const descriptor = anonymousFile(contents)
    try {
      const { stdout } = spawnSync('cat', ['/dev/fd/3'], {
        stdio: ['ignore', 'pipe', 'inherit', descriptor],
        maxBuffer: 1_000_000,
      })
      expect(stdout.equals(contents)).toBe(true)
    } finally {
      closeSync(descriptor)
    }
  })

  test('has no name, and permissions for its owner alone', () => {
    const descriptor = anonymousFile(Buffer.from('secret'))
    try {
      const { nlink, mode } = fstatSync(descriptor)
      expect([nlink, mode & 0o777]).toEqual([0, 0o600])
      expect(readlinkSync(`/proc/self/fd/${descriptor}`)).toContain('(deleted)')
      expect(readFileSync(descriptor, 'utf8')).toBe('secret')
    } finally {
      closeSync(descriptor)
    }
  })
})

describe('sharedAnonymousFile', () => {
  test('hands each of several holders all bytes from the start, and none may change them', () => {
    const contents = Buffer.alloc(100_000, 'abc')
    const descriptors = [1, 2, 3].map(() => sharedAnonymousFile(contents))
    try {
      for (const descriptor of descriptors) {
        expect(readFileSync(descriptor).equals(contents)).toBe(true)
        expect(() => writeSync(descriptor, 'x')).toThrow('EBADF')
      }
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor)
    }
  })
})
