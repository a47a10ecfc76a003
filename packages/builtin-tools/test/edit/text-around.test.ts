import { describe, expect, it } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { numbered } from '../fixtures/numbered-lines.ts'

const page = '# Old title\n\n```sh\nnpm i\n```\nOld text\n'
const newPage = '# New title\n\n```sh\npnpm i\n```\nNew text\n'
const title = '-# Old title\n+# New title\n \n'
const script = ' ```sh\n-npm i\n+pnpm i\n ```\n'
const text = '-Old text\n+New text\n'

describe('edit of a Markdown file', () => {
  it.each([
    ['without headers', title + script + text],
    ['without a first part', script + text, newPage.replace('New title', 'Old title')],
    ['without a last part', title + script, newPage.replace('New text', 'Old text')],
    [
      'behind a fence of the file',
      `\`\`\`sh${script.slice(6)}${text}`,
      newPage.replace('New t', 'Old t'),
    ],
    ['in a fence', `\`\`\`diff\n${title}${script}${text}\`\`\`\n`],
    ['in a fence that is not closed', `\`\`\`diff\n${title}${script}${text}`],
    ['in such a fence, with wrong counts', `\`\`\`diff\n@@ -1,3 +1,3 @@\n${title}${script}${text}`],
    ['in a fence indented by the answer', `Here:\n\n~~~diff\n${title}${script}${text}~~~\n`],
  ])('applies all of a patch %s', async (_, patch, expected = newPage) => {
    const task = createFileTask({ f: page })
    expect(await task.edit('f', patch)).toBe('ok')
    expect(task.text('f')).toBe(expected)
  })
})

describe('a patch with lines outside of what would be applied', () => {
  it.each([
    [
      'a hunk after the fence',
      '```diff\n@@ -1,3 +1,3 @@\n-line 1\n+x\n```\n@@ -3,4 +3,4 @@\n-line 5\n+y',
    ],
    ['a hunk before the fence', '-line 1\n+x\n```diff\n-line 5\n+y\n```'],
    ['lines after the fence', '```diff\n-line 1\n+x\n```\n-line 5\n+y'],
    ['a removal after the fence', '```diff\n-line 1\n+x\n```\n-line 5\n'],
    ['an insertion after the fence', '```diff\n-line 1\n+x\n```\n line 5\n+ y\n'],
    [
      'context of the file as the fence',
      '```diff\n@@ -1,2 +1,2 @@\n-line 1\n+x\n```sh\n line 4\n```\n-line 5\n+y\n',
    ],
    ['a part above a blank line', '-line 1\n+x\n\n@@ -5 +5 @@\n-line 5\n+y'],
    [
      'a part above another without a header',
      '-line 1\n+x\n\n line 4\n-line 5\n+y\n@@ -7 +7 @@\n-line 7\n+z',
    ],
    ['a removal above a blank line', '-line 1\n\n@@ -5 +5 @@\n-line 5\n+y'],
    ['an insertion above a blank line', ' line 1\n+ x\n\n@@ -5 +5 @@\n-line 5\n+y'],
    [
      'a part above the header of the file',
      '-line 1\n+x\n--- a/f\n+++ b/f\n@@ -5 +5 @@\n-line 5\n+y',
    ],
    [
      'such a part with a wrong count',
      '-line 1\n+x\n\n--- a/f\n+++ b/f\n@@ -5,2 +5 @@\n-line 5\n+y',
    ],
    ['a removed item above a blank line', '- * line 1\n\n@@ -5 +5 @@\n-line 5\n+y'],
  ])('is refused: %s', async (_, patch) => {
    const task = createFileTask({ f: numbered(1, 9) })
    const refusal = task.edit('f', patch)
    await expect(refusal).rejects.toThrow(code('TOOL_PATCH_FAILED'))
    await expect(refusal).rejects.toThrow(/outside of/u)
    expect(task.text('f')).toBe(numbered(1, 9))
  })

  it.each([
    ['a list in front', '- One line changes.\n- Nothing else.\n\n@@ -5 +5 @@\n-line 5\n+y\n'],
    ['a list in front of wrong counts', '- One line changes.\n\n@@ -5,4 +5 @@\n-line 5\n+y\n'],
    ['a rule in front', 'Summary\n\n---\n\n@@ -5 +5 @@\n-line 5\n+y\n'],
    ['a list around a fence', '- I change:\n\n```diff\n-line 5\n+y\n```\n\n- Done.\n'],
    [
      'a list above the header of the file',
      '- I change:\n\n--- a/f\n+++ b/f\n@@ -5 +5 @@\n-line 5\n+y\n',
    ],
  ])('is applied when they are prose: %s', async (_, patch) => {
    const task = createFileTask({ f: numbered(1, 9) })
    expect(await task.edit('f', patch)).toBe('ok')
    expect(task.text('f')).toBe(numbered(1, 9).replace('line 5', 'y'))
  })

  it('removes a dash at the end that is no signature', async () => {
    const task = createFileTask({ f: 'a\nb\n- \n2\n' })
    await task.edit('f', '@@\n-a\n+A\n b\n-- \n2\n')
    expect(task.text('f')).toBe('A\nb\n2\n')
    await task.edit('f', '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-A\n+a\n-- \n2.40.1\n\n')
    expect(task.text('f')).toBe('a\nb\n2\n')
  })
})
