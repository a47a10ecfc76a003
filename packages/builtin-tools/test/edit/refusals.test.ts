import { chmodSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { numbered, upperCase } from '../fixtures/numbered-lines.ts'

describe('edit', () => {
  describe('refusals', () => {
    const text = numbered(1, 12)
    const twoFiles = `--- a/f\n+++ b/f\n${upperCase(5)}--- a/g\n+++ b/g\n${upperCase(5)}`

    it.each([
      ['an empty patch', '', 'it has no hunk'],
      ['blanks', ' \n\n', 'it has no hunk'],
      ['prose', 'please change line 5', 'it has no hunk'],
      ['a header without hunks', '--- a/f\n+++ b/f\n', 'it has no hunk'],
      ['a header without lines', `@@ -4,3 +4,3 @@\n${upperCase(5)}`, 'hunk 1 has a header and no'],
      ['a last header without lines', `${upperCase(5)}@@\n`, 'hunk 2 has a header and no lines'],
      ['an insertion that nothing places', '@@\n+x\n', 'only adds lines, and nothing says where'],
      ['an insertion with wrong counts', '@@ -5 +5,2 @@\n+x\n+y\n', 'nothing says where'],
      [
        'lines after a blank one that is not in the file',
        '@@ -5 +5 @@\n-line 5\n+x\n\n+y\n',
        'Line 6: expected "", found "line 6".',
      ],
      [
        'a part after the end of the patch',
        `*** Begin Patch\n*** Update File: f\n${upperCase(5)}*** End Patch\n-line 9\n+x\n`,
        'outside of any hunk: "-line 9"',
      ],
      [
        'two files without numbers',
        '--- a/f\n+++ b/f\n@@\n-line 5\n+x\n--- a/g\n+++ b/g\n@@\n-line 5\n+x\n',
        'more than one file',
      ],
      [
        'two fenced parts',
        `\`\`\`diff\n@@\n-line 5\n+x\n\`\`\`\nand\n\`\`\`diff\n@@\n-line 9\n+x\n\`\`\`\n`,
        'several Markdown fences',
      ],
      ['no change', '@@ -4,2 +4,2 @@\n line 4\n line 5\n', 'it changes nothing'],
      ['two files', twoFiles, 'more than one file'],
      [
        'two files by git',
        `diff --git a/f b/f\n${upperCase(5)}diff --git a/g b/g\n${upperCase(5)}`,
        'more than one file',
      ],
      [
        'another file',
        `--- a/g\n+++ b/g\n${upperCase(5)}`,
        'its header names "a/g", but the path is "f"',
      ],
      ['another new name', `--- a/f\n+++ b/g\n${upperCase(5)}`, 'its header names "b/g"'],
      [
        'an absolute path',
        `--- /etc/passwd\n+++ /etc/passwd\n${upperCase(5)}`,
        'its header names "/etc/passwd"',
      ],
      ['a way out', `--- a/../f\n+++ b/../f\n${upperCase(5)}`, 'its header names "a/../f"'],
      [
        'a creation',
        `--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n`,
        'creates, deletes, renames or copies',
      ],
      [
        'a deletion',
        `--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n`,
        'creates, deletes, renames or copies',
      ],
      [
        'a rename',
        'diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n',
        'creates, deletes',
      ],
      [
        'a git creation',
        `diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n${upperCase(5)}`,
        'creates, deletes',
      ],
      [
        'wrong context',
        '@@ -4,3 +4,3 @@\n line 4\n-line X\n+x\n line 6\n',
        'Line 5: expected "line X", found "line 5".',
      ],
      [
        'a place past the end',
        '@@ -40,0 +41 @@\n+x\n',
        'inserts without context after line 40, but "f" has 12 lines',
      ],
      [
        'the end elsewhere',
        '@@ -5 +5 @@\n-line 5\n\\ No newline at end of file\n+x\n',
        'without a newline as the end of the file',
      ],
      [
        'hunks in the wrong order',
        upperCase(9) + upperCase(4),
        'Hunks must be in the order of the file',
      ],
      ['overlapping hunks', upperCase(5) + upperCase(6), 'must not overlap'],
    ])('leaves bytes and mode alone: %s', async (_, patch, message) => {
      const task = createFileTask({ f: text, g: text })
      chmodSync(join(task.root, 'f'), 0o640)
      const before = statSync(join(task.root, 'f'))
      const refusal = task.edit('f', patch)
      await expect(refusal).rejects.toThrow(code('TOOL_PATCH_FAILED'))
      await expect(refusal).rejects.toThrow('Failed to apply patch: ')
      await expect(refusal).rejects.toThrow(message)
      const after = statSync(join(task.root, 'f'))
      expect([after.ino, after.mode, after.mtimeMs]).toEqual([
        before.ino,
        before.mode,
        before.mtimeMs,
      ])
      expect([task.text('f'), task.text('g')]).toEqual([text, text])
      expect(readdirSync(task.root)).toEqual(['f', 'g'])
    })

    it('names the hunk, its line, the expected and actual text, and the best match', async () => {
      const task = createFileTask({ f: numbered(1, 60) })
      const patch = `${upperCase(5)}@@ -40,4 +40,4 @@\n line 20\n line 21\n-line X\n+x\n line 23\n`
      await expect(task.edit('f', patch)).rejects.toThrow(
        'Failed to apply patch: hunk 2 of 2 does not match "f" at line 40. ' +
          'Line 40: expected "line 20", found "line 40". ' +
          'Its lines match best at line 20 (3 of 4). Line 22: expected "line X", found "line 22". ' +
          'Nothing was changed. Read the file again and base the hunk on its current contents.',
      )
    })

    it('refuses an ambiguous position and lists the candidate lines', async () => {
      const task = createFileTask({ f: 'x\n\n}\n\ny\n\n}\n\nz\n' })
      const refusal = task.edit('f', '@@ -5,3 +5,3 @@\n \n-}\n+};\n \n')
      await expect(refusal).rejects.toThrow('does not fit at line 5 of "f" and fits at lines 2, 6.')
      await expect(refusal).rejects.toThrow(
        expect.objectContaining({ details: expect.objectContaining({ candidates: [2, 6] }) }),
      )
    })

    it('checks the sizes of the patch, the file and the result', async () => {
      const task = createFileTask({ f: 'a\n', large: 'x'.repeat(101) }, { maxOutputBytes: 100 })
      await expect(task.edit('f', `@@ -1 +1 @@\n-a\n+${'b'.repeat(100)}\n`)).rejects.toThrow(
        'Patch too large: 117 bytes, the limit is 100.',
      )
      await expect(task.edit('large', '@@ -1 +1 @@\n-a\n+b\n')).rejects.toThrow('File too large')
      const full = createFileTask({ f: 'x'.repeat(90) }, { maxOutputBytes: 100 })
      await expect(full.edit('f', '@@ -0,0 +1 @@\n+1234567890\n')).rejects.toThrow(
        code('TOOL_CONTENT_TOO_LARGE'),
      )
      expect(full.bytes('f')).toHaveLength(90)
    })

    it('refuses a missing file, a link out, and what is not UTF-8, untouched', async () => {
      const latin = Buffer.from('caf\xe9\nline 2\n', 'latin1')
      const task = createFileTask({ latin })
      symlinkSync('/etc/passwd', join(task.root, 'link'))
      const patch = '@@ -2 +2 @@\n-line 2\n+LINE 2\n'
      await expect(task.edit('none', patch)).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
      await expect(task.edit('link', patch)).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
      await expect(task.edit('latin', patch)).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
      expect(latin.equals(task.bytes('latin'))).toBe(true)
    })
  })
})
