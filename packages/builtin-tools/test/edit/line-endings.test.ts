import { describe, expect, it } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'

describe('edit', () => {
  it.each([
    ['-\uFEFFa\n+\uFEFFA\n b\n', '\uFEFFA\nb\n'],
    [' \uFEFFa\n-b\n+B\n', '\uFEFFa\nB\n'],
    ['-a\n+A\n b\n', '\uFEFFA\nb\n'],
  ])(
    'takes the lines %j for a file with a byte order mark, and keeps it',
    async (lines, result) => {
      const task = createFileTask({ f: '\uFEFFa\nb\n' })
      await task.edit('f', `@@ -1,2 +1,2 @@\n${lines}`)
      expect(task.text('f')).toBe(result)
    },
  )

  describe('line endings', () => {
    it('applies an LF patch to a CRLF file and keeps CRLF', async () => {
      const task = createFileTask({ f: 'a\r\nb\r\nc\r\n' })
      await task.edit('f', '@@ -1,3 +1,4 @@\n a\n-b\n+B\n+more\n c\n')
      expect(task.text('f')).toBe('a\r\nB\r\nmore\r\nc\r\n')
    })

    it('applies a CRLF patch to an LF file and keeps LF', async () => {
      const task = createFileTask({ f: 'a\nb\nc\n' })
      await task.edit('f', '@@ -1,3 +1,3 @@\r\n a\r\n-b\r\n+B\r\n c\r\n')
      expect(task.text('f')).toBe('a\nB\nc\n')
    })

    it('keeps a byte order mark, and the lines of a mixed file as they are', async () => {
      const task = createFileTask({ f: '\uFEFFa\r\nb\nc\r\nd\n' })
      await task.edit('f', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n')
      expect(task.text('f')).toMatch(/^\uFEFFa\r\nB\r?\nc\r\nd\n$/u)
    })

    it('changes line endings when the patch says so', async () => {
      const task = createFileTask({ f: 'a\r\nb\r\n' })
      await task.edit('f', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n')
      expect(task.text('f')).toBe('a\nb\r\n')
    })

    it('adds, removes and keeps a missing final newline as the patch says', async () => {
      const marker = '\\ No newline at end of file\n'
      const cases = [
        ['a\nb', `@@ -1,2 +1,2 @@\n a\n-b\n${marker}+B\n${marker}`, 'a\nB'],
        ['a\nb', `@@ -1,2 +1,2 @@\n a\n-b\n${marker}+b\n`, 'a\nb\n'],
        ['a\nb\n', `@@ -1,2 +1,2 @@\n a\n-b\n+b\n${marker}`, 'a\nb'],
        ['a\nb', `@@ -1,2 +1,2 @@\n-a\n+A\n b\n${marker}`, 'A\nb'],
        // A model that forgets the marker means the file as it is.
        ['a\nb', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', 'a\nB'],
        ['a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n', 'A\nb'],
      ] as const
      for (const [before, patch, after] of cases) {
        const task = createFileTask({ f: before })
        await task.edit('f', patch)
        expect(task.text('f'), patch).toBe(after)
      }
    })
  })
})
