import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { edit } from '@smithers/builtin-tools'
import { createToolContext, getDefinedToolMetadata, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFileTask } from './fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }
const code = (expected: string) => expect.objectContaining({ code: expected })
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('')

/** A hunk that turns line N of `numbered` into upper case. */
const upperCase = (line: number, at = line) =>
  `@@ -${at - 1},3 +${at - 1},3 @@\n line ${line - 1}\n-line ${line}\n+LINE ${line}\n line ${line + 1}\n`

describe('edit', () => {
  it('is a side effect that is not idempotent', () => {
    expect(getDefinedToolMetadata(edit)).toEqual({
      name: 'edit',
      sideEffect: true,
      idempotent: false,
    })
  })

  it('applies hunks and keeps everything else, including the mode', async () => {
    const task = createFileTask({ 'src/a.txt': numbered(1, 30) })
    chmodSync(join(task.root, 'src/a.txt'), 0o750)
    const patch = `--- a/src/a.txt\n+++ b/src/a.txt\n${upperCase(5)}${upperCase(20)}`
    expect(await task.edit('src/a.txt', patch)).toBe('ok')
    const expected = numbered(1, 30)
      .replace('line 5\n', 'LINE 5\n')
      .replace('line 20\n', 'LINE 20\n')
    expect(task.text('src/a.txt')).toBe(expected)
    expect(task.mode('src/a.txt')).toBe(0o750)
  })

  it.each([
    '',
    '--- src/a.txt\n+++ src/a.txt\n',
    '--- a/src/a.txt\t2024-01-01 00:00:00\n+++ b/src/a.txt\t2024-01-02 00:00:00\n',
    'diff --git a/src/a.txt b/src/a.txt\nindex 1234567..89abcde 100644\n--- a/src/a.txt\n+++ b/src/a.txt\n',
    '--- ./src/a.txt\n+++ ./src/a.txt\n',
    '--- src/a.txt 2024-01-01 00:00:00\n+++ src/a.txt 2024-01-01 00:00:00.123456789 +0100\n',
    'Index: src/a.txt\n===================================================================\n--- src/a.txt\n+++ src/a.txt\n',
    '*** Begin Patch\n*** Update File: src/a.txt\n',
    'Here is the patch:\n\n```diff\n--- a/src/a.txt\n+++ b/src/a.txt\n',
  ])('accepts the header %j', async (header) => {
    const task = createFileTask({ 'src/a.txt': numbered(1, 9) })
    await task.edit('src/a.txt', header + upperCase(5))
    expect(task.text('src/a.txt')).toContain('LINE 5')
  })

  it('accepts a header with the absolute path, in any spelling of path and root', async () => {
    const { root } = createFileTask({ 'src/a.txt': '' })
    const link = `${root}-link`
    symlinkSync(root, link)
    onTestFinished(() => rmSync(link))
    const context = createToolContext({ rootDir: link })
    for (const given of ['src/a.txt', `${root}/src/a.txt`, `${link}/src/a.txt`]) {
      for (const prefix of ['', 'a/', 'a']) {
        for (const base of [root, link]) {
          writeFileSync(join(root, 'src/a.txt'), numbered(1, 9))
          const header = `--- ${prefix}${base}/src/a.txt\n+++ ${prefix}${base}/src/a.txt\n`
          const patch = header + upperCase(5)
          const input = { path: given, patch }
          const done = runWithToolContext(context, () => edit.execute(input, call))
          expect(await done, JSON.stringify(input)).toBe('ok')
          expect(readFileSync(join(root, 'src/a.txt'), 'utf8')).toContain('LINE 5')
        }
      }
    }
  })

  it.each([
    ['src/f', '/src/f'],
    ['src/f', './src/../src/f'],
    ['src/f', 'src/./f'],
    ['src/f', 'link/f'],
    ['link/f', 'src/f'],
    ['src/f', 'a/link/f'],
    // As diff writes them in the subdirectory.
    ['src/f', 'f'],
    ['a/f', 'a/f'],
    ['n'.repeat(255), `a/${'n'.repeat(255)}`],
  ])('edits %s under the header %s, which leads to the same file', async (path, name) => {
    const task = createFileTask({ 'src/x': '', [path.replace('link', 'src')]: numbered(1, 9) })
    symlinkSync('src', join(task.root, 'link'))
    const header = `--- ${name}\n+++ ${name.replace(/^a\//u, 'b/')}\n`
    expect(await task.edit(path, header + upperCase(5))).toBe('ok')
    expect(task.text(path)).toContain('LINE 5')
  })

  it.each([
    ['src/f', 'f', 'another file of that name exists'],
    ['src/f', 'rc/f', 'it is the end of the text, not of the path'],
    ['f', 'src/f', 'another file of that name exists'],
    ['f', 'gone/f', 'the path is the end of the name, not the other way round'],
    ['f', '../f', 'it leads out of the root'],
  ])('does not edit %s under the header %s, since %s', async (path, name) => {
    const task = createFileTask({ f: numbered(1, 9), 'src/f': numbered(1, 9) })
    const refusal = task.edit(path, `--- ${name}\n+++ ${name}\n${upperCase(5)}`)
    await expect(refusal).rejects.toThrow(`its header names "${name}"`)
    expect([task.text('f'), task.text('src/f')]).toEqual([numbered(1, 9), numbered(1, 9)])
  })

  it('suggests chmod for a patch that changes only the mode', async () => {
    const task = createFileTask({ f: numbered(1, 9) })
    const before = task.mode('f')
    const refusal = task.edit('f', 'diff --git a/f b/f\nold mode 100644\nnew mode 100755\n')
    await expect(refusal).rejects.toThrow(code('TOOL_PATCH_FAILED'))
    await expect(refusal).rejects.toThrow('changes the mode of the file')
    expect([task.mode('f'), task.text('f')]).toEqual([before, numbered(1, 9)])
  })

  it.each([
    ['diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n', 'use chmod'],
    ['*** Begin Patch\n*** Update File: g\n', 'its header names "g"'],
    ['Index: g\n', 'its header names "g"'],
    ['*** Add File: f\n', 'creates, deletes, renames'],
    ['--- a/tmp/f\n+++ b/tmp/f\n', 'its header names "a/tmp/f"'],
    ['--- g 2024-01-01 00:00:00\n+++ g 2024-01-01 00:00:00\n', 'its header names "g 2024'],
  ])('refuses what it would not do, in the header %j', async (header, reason) => {
    const task = createFileTask({ f: numbered(1, 9), g: '' })
    const refusal = task.edit('f', header + upperCase(5))
    await expect(refusal).rejects.toThrow(code('TOOL_PATCH_FAILED'))
    await expect(refusal).rejects.toThrow(reason)
    expect(task.text('f')).toBe(numbered(1, 9))
  })

  it('refuses a second part for another file', async () => {
    const task = createFileTask({ f: numbered(1, 9), g: '' })
    const patch = `*** Update File: f\n${upperCase(3)}*** Update File: g\n${upperCase(6)}`
    await expect(task.edit('f', patch)).rejects.toThrow('its header names "g"')
    expect(task.text('f')).toBe(numbered(1, 9))
  })

  it('accepts text around a patch and the signature of a mail', async () => {
    const task = createFileTask({ f: numbered(1, 9) })
    await task.edit('f', `${upperCase(5)}-- \n2.39.0\n`)
    await task.edit('f', `\`\`\`diff\n${upperCase(3)}\`\`\`\nThat is all.\n`)
    expect(task.text('f')).toContain('LINE 3\nline 4\nLINE 5')
  })

  it('moves a hunk with a wrong line number to its only match, and the next hunk with it', async () => {
    const task = createFileTask({ f: `${'new\n'.repeat(7)}${numbered(1, 40)}` })
    await task.edit('f', upperCase(5) + upperCase(30))
    expect(task.text('f').split('\n')[11]).toBe('LINE 5')
    expect(task.text('f').split('\n')[36]).toBe('LINE 30')
  })

  it('applies a hunk at its line number when several positions match', async () => {
    const task = createFileTask({ f: 'a\nb\na\nb\na\nb\n' })
    await task.edit('f', '@@ -3,2 +3,2 @@\n a\n-b\n+B\n')
    expect(task.text('f')).toBe('a\nb\na\nB\na\nb\n')
  })

  it('inserts into an empty file, at the beginning and at the end', async () => {
    const task = createFileTask({ empty: '', f: 'b\n' })
    await task.edit('empty', '@@ -0,0 +1,2 @@\n+a\n+b\n')
    await task.edit('f', '@@ -0,0 +1 @@\n+a\n')
    await task.edit('f', '@@ -2,0 +3 @@\n+c\n')
    expect([task.text('empty'), task.text('f')]).toEqual(['a\nb\n', 'a\nb\nc\n'])
  })

  it('treats "-0,0" in a patch with file headers as an empty file', async () => {
    const task = createFileTask({ f: 'b\n', empty: '' })
    const patch = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -0,0 +1 @@\n+a\n`
    await expect(task.edit('f', patch('f'))).rejects.toThrow(
      expect.objectContaining({
        code: 'TOOL_PATCH_FAILED',
        message: expect.stringContaining('is for an empty file, but "f" has 1 lines.'),
      }),
    )
    await task.edit('empty', patch('empty'))
    expect([task.text('f'), task.text('empty')]).toEqual(['b\n', 'a\n'])
  })

  it('refuses a patch that changes nothing', async () => {
    const task = createFileTask({ f: 'a\nb\n' })
    for (const patch of ['@@ -1 +1 @@\n-a\n+a\n', '@@ -1,2 +1,2 @@\n-a\n-b\n+a\n+b\n']) {
      await expect(task.edit('f', patch)).rejects.toThrow(
        'Failed to apply patch: it changes nothing in "f"',
      )
    }
    expect(task.text('f')).toBe('a\nb\n')
  })

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

  it('can empty a file', async () => {
    const task = createFileTask({ f: 'a\nb\n' })
    await task.edit('f', '@@ -1,2 +0,0 @@\n-a\n-b\n')
    expect(task.text('f')).toBe('')
  })

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

  describe('refusals', () => {
    const text = numbered(1, 12)
    const twoFiles = `--- a/f\n+++ b/f\n${upperCase(5)}--- a/g\n+++ b/g\n${upperCase(5)}`

    it.each([
      ['an empty patch', '', 'it has no hunk'],
      ['blanks', ' \n\n', 'it has no hunk'],
      ['prose', 'please change line 5', 'it has no hunk'],
      ['a header without hunks', '--- a/f\n+++ b/f\n', 'it has no hunk'],
      [
        'a hunk without numbers',
        '@@\n-line 5\n+LINE 5\n',
        'hunk 1 (line 1 of the patch) has a malformed header: "@@"',
      ],
      ['dots for numbers', '@@ ... @@\n-line 5\n+x\n', 'Write it like "@@ -12,3 +12,4 @@"'],
      [
        'a second hunk without numbers',
        `${upperCase(3)}@@ @@\n-line 9\n+x\n`,
        'hunk 2 (line 6 of the patch)',
      ],
      [
        'too few lines',
        '@@ -4,3 +4,3 @@\n line 4\n-line 5\n+x\n',
        'announces 3 old and 3 new lines; it has 2 old and 2 new',
      ],
      [
        'too many lines',
        '@@ -5 +5 @@\n-line 5\n+x\n line 6\n',
        'announces 1 old and 1 new lines; it has 2 old and 2 new',
      ],
      [
        'old lines that are not there',
        '@@ -5 +5,2 @@\n+x\n+y\n',
        'announces 1 old and 2 new lines; it has 0 old and 2 new',
      ],
      [
        'lines after a blank one',
        '@@ -5 +5 @@\n-line 5\n+x\n\n+y\n',
        'line 5 of the patch is outside of hunk 1: "+y"',
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

  it('runs 40 concurrent edits of one file one after another', async () => {
    const task = createFileTask({ f: numbered(1, 200) })
    const lines = Array.from({ length: 40 }, (_, index) => index * 5 + 3)
    const answers = await Promise.all(lines.map((line) => task.edit('f', upperCase(line))))
    expect(answers).toEqual(Array.from({ length: 40 }, () => 'ok'))
    const changed = task
      .text('f')
      .split('\n')
      .filter((line) => line.startsWith('LINE'))
    expect(changed).toEqual(lines.map((line) => `LINE ${line}`))
  })

  it('detects that another program replaced the file meanwhile', async () => {
    const task = createFileTask({ f: numbered(1, 200) })
    let lost = 0
    // Waits for the disk between reading and replacing, and there the other one comes in.
    const edits = Promise.allSettled([task.edit('f', upperCase(50))])
    writeFileSync(join(task.root, 'theirs'), 'theirs')
    renameSync(join(task.root, 'theirs'), join(task.root, 'f'))
    const [outcome] = await edits
    if (outcome?.status === 'fulfilled') lost += 1
    expect(lost).toBe(0)
    expect(task.text('f')).toBe('theirs')
  })

  it('keeps patches out of the log, also out of the errors', async () => {
    const task = createFileTask({ f: numbered(1, 9) })
    const secret = 'CONFIDENTIAL'
    const patches = [
      `@@ -5 +5 @@\n-line 5\n+${secret}\n`,
      `@@ -6 +6 @@\n-not ${secret}\n+x\n`,
      `@@ ${secret} @@\n-line 5\n+x\n`,
      `@@ -6 +6 @@\n${secret}\n+x\n`,
      `--- a/${secret}\n+++ b/${secret}\n@@ -6 +6 @@\n-line 6\n+x\n`,
      `@@ -6 +6 @@\n-line 6\n+x\n\n+${secret}\n`,
      `@@ -90 +90 @@\n-never ${secret}\n+x\n`,
    ]
    const outcomes = await Promise.allSettled(patches.map((patch) => task.edit('f', patch)))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      ...Array(6).fill('rejected'),
    ])
    const rows = await task.context.log.list({})
    expect(rows).toHaveLength(patches.length)
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(rows[0]?.inputJson).toContain('"sha256"')
  })
})
