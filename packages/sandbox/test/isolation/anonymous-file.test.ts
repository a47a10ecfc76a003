import { closeSync, fstatSync, readFileSync, readlinkSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { anonymousFile } from '../../src/isolation/anonymous-file.ts'

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
