import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readFileHead } from '../../../src/files/io/read-file-head.ts'

const directory = mkdtempSync(join(tmpdir(), 'smithers-head-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function fileOf(content: string): string {
  const path = join(directory, 'file')
  writeFileSync(path, content)
  return path
}

describe('readFileHead', () => {
  test.each([0, 1, 255, 256, 257, 999, 1000, 1001, 5000])(
    'reads %i bytes, at most 1000',
    (size) => {
      const content = 'abc'.repeat(size).slice(0, size)
      expect(readFileHead(fileOf(content), 1000)?.toString()).toBe(content.slice(0, 1000))
    },
  )

  test('keeps no more memory than the file is long, whatever the limit', () => {
    const bytes = readFileHead(fileOf('short'), 4 * 1024 * 1024)
    expect(bytes?.toString()).toBe('short')
    expect(bytes?.buffer.byteLength).toBeLessThan(1024)
  })

  test.runIf(process.platform === 'linux')('reads a file that reports the size 0', () => {
    const [bytes, whole] = [
      readFileHead('/proc/self/maps', 1_000_000),
      readFileSync('/proc/self/maps'),
    ]
    expect(bytes?.length).toBeGreaterThan(1000)
    expect(bytes?.subarray(0, 20)).toEqual(whole.subarray(0, 20))
  })

  test('is undefined for a directory', () => {
    expect(readFileHead(directory, 10)).toBeUndefined()
  })
})
