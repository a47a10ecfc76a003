import { chmodSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { edit } from '@smithers/builtin-tools'
import { getDefinedToolMetadata } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'
import { numbered, upperCase } from '../fixtures/numbered-lines.ts'

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

  it('can empty a file', async () => {
    const task = createFileTask({ f: 'a\nb\n' })
    await task.edit('f', '@@ -1,2 +0,0 @@\n-a\n-b\n')
    expect(task.text('f')).toBe('')
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
      `@@ -6 +6 @@\nnot ${secret}\n+x\n`,
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
