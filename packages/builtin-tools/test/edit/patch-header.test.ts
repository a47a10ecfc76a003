import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { edit } from '@smithers/builtin-tools'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { numbered, upperCase } from '../fixtures/numbered-lines.ts'

const call = { toolCallId: 'call-1', messages: [] }

describe('edit', () => {
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
})
