import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { read } from '@smithers/builtin-tools'
import { createToolContext, getDefinedToolMetadata, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { code } from './fixtures/error-code.ts'
import { createFileTask } from './fixtures/file-task.ts'

describe('read', () => {
  it('is a pure read', () => {
    expect(getDefinedToolMetadata(read)).toEqual({
      name: 'read',
      sideEffect: false,
      idempotent: true,
    })
  })

  it('returns the text of a file, by a path from the root or an absolute one', async () => {
    const task = createFileTask({ 'src/a.txt': 'text é\r\n' })
    expect(await task.read('src/a.txt')).toBe('text é\r\n')
    expect(await task.read(join(task.root, 'src/a.txt'))).toBe('text é\r\n')
  })

  it('reads a file of exactly maxOutputBytes, and explains how to read a larger one', async () => {
    const task = createFileTask(
      { a: 'é'.repeat(50), b: `${'é'.repeat(50)}x` },
      { maxOutputBytes: 100 },
    )
    expect(await task.read('a')).toHaveLength(50)
    const refusal = task.read('b')
    await expect(refusal).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
    await expect(refusal).rejects.toThrow(
      'File too large: "b" has 101 bytes, the limit is 100. Read a part with offset and limit',
    )
  })

  it('stops reading distant lines at the timeout or when the call is aborted', async () => {
    const task = createFileTask({ big: '' }, { timeoutMs: 300 })
    truncateSync(join(task.root, 'big'), 2 ** 41)
    const late = task.read('big', { offset: 2, limit: 1 })
    await expect(late).rejects.toThrow(code('TOOL_TIMEOUT'))
    await expect(late).rejects.toThrow('took more than 300 ms')

    const stop = new AbortController()
    const context = createToolContext({ rootDir: task.root })
    const stopped = runWithToolContext(context, () =>
      read.execute(
        { path: 'big', offset: 2 },
        { toolCallId: 'call-2', messages: [], abortSignal: stop.signal },
      ),
    )
    stop.abort()
    await expect(stopped).rejects.toThrow(code('TOOL_ABORTED'))
    await expect(stopped).rejects.toThrow('Reading "big" was stopped')
  })

  it('reads a part of a file that is too large as a whole', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}\n`)
    const task = createFileTask({ log: lines.join('') })
    expect(await task.read('log', { offset: 49_999 })).toBe('line 49999\nline 50000\n')
    expect(await task.read('log', { limit: 2 })).toBe('line 1\nline 2\n')
    expect(await task.read('log', { offset: 25_000, limit: 1 })).toBe('line 25000\n')
    expect(await task.read('log', { offset: 50_000, limit: 10 })).toBe('line 50000\n')
    await expect(task.read('log', { offset: 1, limit: 40_000 })).rejects.toThrow(
      'pass a smaller limit',
    )
    await expect(task.read('log', { offset: 50_001 })).rejects.toThrow('which has 50000 lines')
  })

  it('reads from the first line of an empty file', async () => {
    const task = createFileTask({ empty: '' })
    expect(await task.read('empty', { offset: 1 })).toBe('')
  })

  it.each([{ offset: 0 }, { offset: 1.5 }, { limit: 0 }, { limit: -1 }])(
    'refuses %o',
    async (range) => {
      const task = createFileTask({ a: 'text' })
      await expect(task.read('a', range)).rejects.toThrow(code('INVALID_INPUT'))
    },
  )

  it('keeps a byte order mark out of the text and refuses what is not text', async () => {
    const task = createFileTask({ bom: '\uFEFFa\nb', latin: Buffer.from('caf\xe9', 'latin1') })
    expect(await task.read('bom')).toBe('a\nb')
    expect(await task.read('bom', { limit: 1 })).toBe('a\n')
    await expect(task.read('latin')).rejects.toThrow(
      'not UTF-8 text: 4 bytes that look like text in a',
    )
    await expect(task.read('latin', { limit: 1 })).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
  })

  it('refuses paths that are missing, outside, or not files, each with its code', async () => {
    const task = createFileTask({ 'd/f': '' })
    symlinkSync('/etc/passwd', join(task.root, 'link'))
    execFileSync('mkfifo', [join(task.root, 'pipe')])
    await expect(task.read('none')).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    await expect(task.read('../x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.read('/etc/passwd')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.read('link')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.read('d')).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    await expect(task.read('pipe')).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    await expect(task.read('')).rejects.toThrow(code('TOOL_PATH_INVALID'))
    await expect(task.read('a\0b')).rejects.toThrow(code('TOOL_PATH_INVALID'))
  })
})
