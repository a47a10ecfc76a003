import { describe, expect, it } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { numbered, upperCase } from '../fixtures/numbered-lines.ts'

const change = ' line 4\n-line 5\n+LINE 5\n line 6\n'
const program = [
  'class A:',
  '    def run(self):',
  '        return 1',
  '',
  'class B:',
  '    def run(self):',
  '        return 1',
  '',
].join('\n')

describe('edit', () => {
  it.each([
    ['counts that are too large', `@@ -4,9 +4,7 @@\n${change}`],
    ['counts that are too small', `@@ -4 +4 @@\n${change}`],
    ['counts and a line that are wrong', `@@ -1,5 +1,6 @@\n${change}`],
    ['a header without numbers', `@@\n${change}`],
    ['a header without numbers, closed', `@@ @@\n${change}`],
    ['dots for numbers', `@@ ... @@\n${change}`],
    ['a header with a line above', `@@ line 2\n${change}`],
    ['a header with a line that is not in the file', `@@ def f():\n${change}`],
    ['no header', change],
    ['no header, and blank lines around', `\n${change}\n\n`],
    ['only a header of the file', `--- a/f\n+++ b/f\n${change}`],
    [
      'a patch in the form of apply_patch',
      `*** Begin Patch\n*** Update File: f\n@@\n${change}*** End Patch\n`,
    ],
    [
      'that form without a header of the hunk',
      `*** Begin Patch\n*** Update File: f\n${change}*** End Patch`,
    ],
    ['a Markdown fence', `\`\`\`diff\n@@ -4 +4 @@\n${change}\`\`\`\n`],
    ['a Markdown fence in prose', `Here:\n\n~~~\n${change}~~~\n\n- It renames a line.\n`],
    ['a fence without an end', `\`\`\`\n${change}`],
    ['context without its blank', '@@ -4,3 +4,3 @@\nline 4\n-line 5\n+LINE 5\nline 6\n'],
    ['such context without numbers', '@@\nline 4\n-line 5\n+LINE 5\n'],
    ['a second part without numbers', '@@ -2 +2 @@\n-line 2\n+line 2\n@@ @@\n-line 5\n+LINE 5\n'],
    ['a list in front', `- I change line 5.\n- Nothing else.\n\n${upperCase(5)}`],
  ])('reads %s', async (_, patch) => {
    const task = createFileTask({ f: numbered(1, 9) })
    expect(await task.edit('f', patch)).toBe('ok')
    expect(task.text('f')).toBe(numbered(1, 9).replace('line 5', 'LINE 5'))
  })

  it('finds context whose own indentation hides the lost blank', async () => {
    const task = createFileTask({ f: 'if a:\n    b\n    c\n    d\n' })
    await task.edit('f', '@@ -2,3 +2,3 @@\n    b\n-    c\n+    C\n    d\n')
    expect(task.text('f')).toBe('if a:\n    b\n    C\n    d\n')
  })

  it('applies the part in front of the first hunk header too', async () => {
    const task = createFileTask({ f: numbered(1, 9) })
    const parts = `-line 2\n+LINE 2\n${upperCase(5)}`
    await task.edit('f', `*** Begin Patch\n*** Update File: f\n${parts}*** End Patch\n`)
    expect(task.text('f')).toBe(
      numbered(1, 9).replace('line 2', 'LINE 2').replace('line 5', 'LINE 5'),
    )
  })

  it('chooses among equal lines by the header that names their function', async () => {
    const body = '-        return 1\n+        return 2\n'
    const task = createFileTask({ f: program })
    await expect(task.edit('f', `@@\n${body}`)).rejects.toThrow('fits at lines 3, 7')
    await expect(task.edit('f', `@@ def run(self):\n${body}`)).rejects.toThrow('fits at lines 3, 7')
    expect(task.text('f')).toBe(program)
    await task.edit('f', `@@ class A:\n@@ def run(self):\n${body}`)
    expect(task.text('f')).toBe(program.replace('return 1', 'return 2'))
    await task.edit('f', `@@ class B:\n${body}`)
    expect(task.text('f')).toBe(program.replaceAll('return 1', 'return 2'))
  })

  it('does not look above the line that a header names', async () => {
    const text = 'def a():\n    return 1\n\ndef b():\n    return 3\n'
    const task = createFileTask({ f: text })
    const patch = '@@ def b():\n-    return 1\n+    return 2\n'
    await expect(task.edit('f', patch)).rejects.toThrow(code('TOOL_PATCH_FAILED'))
    expect(task.text('f')).toBe(text)
  })

  it('takes the end of the file for a part that says so', async () => {
    const task = createFileTask({ f: 'x\na\nx\n' })
    const patch =
      '*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End of File\n*** End Patch\n'
    await task.edit('f', patch)
    expect(task.text('f')).toBe('x\na\ny\n')
  })

  it('does not believe the line of a header whose counts are wrong', async () => {
    const task = createFileTask({ f: 'a\nb\na\nb\n' })
    await expect(task.edit('f', '@@ -3,9 +3,9 @@\n a\n-b\n+B\n')).rejects.toThrow(
      'the hunk has wrong counts in its header and fits at lines 1, 3 of "f". Give it the right line number and counts',
    )
    expect(task.text('f')).toBe('a\nb\na\nb\n')
  })

  it('keeps CRLF line endings and a missing final newline', async () => {
    const task = createFileTask({ f: 'a\r\nb\r\nc' })
    await task.edit('f', '@@\n a\n-b\n+B\n+B2\n')
    await task.edit('f', '@@ -1 +1 @@\n B2\n-c\n+C\n')
    expect(task.text('f')).toBe('a\r\nB\r\nB2\r\nC')
  })

  it('accepts a header that names the file from above the root', async () => {
    const task = createFileTask({ 'src/f': numbered(1, 9) })
    const name = `${task.root.split('/').at(-1)}/src/f`
    await task.edit('src/f', `--- a/${name}\n+++ b/${name}\n@@\n${change}`)
    expect(task.text('src/f')).toContain('LINE 5')
  })
})

describe('an edit that is in the file already', () => {
  it.each([
    ['a unified diff', upperCase(5)],
    ['a hunk without numbers', `@@\n${change}`],
    ['an insertion', '@@ -8,2 +8,3 @@\n line 8\n+line 8 b\n line 9\n'],
    ['a removal', '@@ -3,3 +3,2 @@\n line 3\n-line 3 b\n line 4\n'],
    ['two hunks', `${upperCase(5)}@@ -8,2 +8,3 @@\n line 8\n+line 8 b\n line 9\n`],
  ])('is refused as that: %s', async (_, patch) => {
    const text = numbered(1, 9)
      .replace('line 5', 'LINE 5')
      .replace('line 8\n', 'line 8\nline 8 b\n')
    const task = createFileTask({ f: text })
    const refusal = task.edit('f', patch)
    await expect(refusal).rejects.toThrow(code('TOOL_PATCH_ALREADY_APPLIED'))
    await expect(refusal).rejects.toThrow(/^Patch already applied: "f" has its new text at line/u)
    expect(task.text('f')).toBe(text)
  })

  it.each([
    ['one of two hunks is missing', `${upperCase(5)}@@ -8 +8 @@\n-line X\n+LINE X\n`],
    ['only context is there', '@@ -4,2 +4 @@\n line 4\n-line X\n'],
    ['nothing but the new line is there', '@@ -3 +3 @@\n-foo(a)\n+LINE 5\n'],
    ['the new line is a bracket', '@@ -1 +1 @@\n-line X\n+}\n'],
    ['the new line is at several positions', '@@ -7 +7 @@\n-line X\n+same\n'],
  ])('is not assumed when %s', async (_, patch) => {
    const text = `}\n${numbered(2, 9).replace('line 5', 'LINE 5')}same\nsame\n`
    const task = createFileTask({ f: text })
    await expect(task.edit('f', patch)).rejects.toThrow(code('TOOL_PATCH_FAILED'))
    expect(task.text('f')).toBe(text)
  })
})

describe('a difference that cannot be seen', () => {
  it.each([
    [
      'a\u00A0b',
      'a b',
      'at character 2 the patch has U+0020 (space), the file has U+00A0 (no-break',
    ],
    ['\tx', '    x', 'at character 1 the patch has U+0020 (space), the file has U+0009 (tab)'],
    ['x', 'x ', 'at character 2 the patch has U+0020 (space), the file has the end of the line'],
    [
      '\u201Cq\u201D',
      '"q"',
      'the patch has "\\"" (U+0022), the file has U+201C (left double quotation'.replace(
        '"\\""',
        String.raw`"\""`,
      ),
    ],
    [
      'caf\u00E9',
      'cafe\u0301',
      'at character 4 the patch has "e" (U+0065), the file has "é" (U+00E9)',
    ],
    [
      'a\u200Bb',
      'ab',
      'at character 2 the patch has "b" (U+0062), the file has U+200B (zero width',
    ],
  ])('shows the characters of %j and %j', async (inFile, inPatch, shown) => {
    const task = createFileTask({ f: `${inFile}\n` })
    const refusal = task.edit('f', `@@ -1 +1 @@\n-${inPatch}\n+new\n`)
    await expect(refusal).rejects.toThrow(`They look alike: `)
    await expect(refusal).rejects.toThrow(shown)
  })

  it('says nothing of characters when the lines look different', async () => {
    const task = createFileTask({ f: 'ab\n' })
    const refusal = task.edit('f', '@@ -1 +1 @@\n-ac\n+new\n')
    await expect(refusal).rejects.toThrow(/found "ab"\. No other/u)
  })
})
