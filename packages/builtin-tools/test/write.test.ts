import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuiltinTools, write } from '@smithers/builtin-tools'
import { getDefinedToolMetadata, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { code } from './fixtures/error-code.ts'
import { createFileTask } from './fixtures/file-task.ts'

describe('write', () => {
  it('is a side effect that is not idempotent', () => {
    expect(getDefinedToolMetadata(write)).toEqual({
      name: 'write',
      sideEffect: true,
      idempotent: false,
    })
  })

  it('writes a file and its parent directories, and returns "ok"', async () => {
    const task = createFileTask()
    expect(await task.write('a/b/c.txt', 'text é\r\n')).toBe('ok')
    expect(task.text('a/b/c.txt')).toBe('text é\r\n')
    expect(await task.write(join(task.root, 'a/b/c.txt'), '')).toBe('ok')
    expect(task.bytes('a/b/c.txt')).toHaveLength(0)
  })

  it('keeps the permissions of a replaced file', async () => {
    const task = createFileTask({ 'run.sh': '' })
    chmodSync(join(task.root, 'run.sh'), 0o755)
    await task.write('run.sh', 'echo hi\n')
    expect(task.mode('run.sh')).toBe(0o755)
  })

  it('accepts exactly maxOutputBytes of content and refuses a byte more before any change', async () => {
    const task = createFileTask({}, { maxOutputBytes: 100 })
    expect(await task.write('a', 'é'.repeat(50))).toBe('ok')
    const refusal = task.write('new/b', `${'é'.repeat(50)}x`)
    await expect(refusal).rejects.toThrow(code('TOOL_CONTENT_TOO_LARGE'))
    await expect(refusal).rejects.toThrow('Content too large: 101 bytes, the limit is 100.')
    expect(readdirSync(task.root)).toEqual(['a'])
  })

  it('never writes outside, to a file with another name, or to a protected one', async () => {
    const task = createFileTask({ old: 'text' })
    const outside = join(tmpdir(), `outside-${process.pid}`)
    symlinkSync(outside, join(task.root, 'link'))
    linkSync(join(task.root, 'old'), join(task.root, 'hard'))
    mkdirSync(join(task.root, 'd'))
    await expect(task.write('link', 'x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.write('link/x', 'x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.write('../x', 'x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(task.write('hard', 'x')).rejects.toThrow(code('TOOL_PATH_DENIED'))
    await expect(task.write('.git/hooks/pre-commit', 'x')).rejects.toThrow(code('TOOL_PATH_DENIED'))
    await expect(task.write('d', 'x')).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    expect(existsSync(outside)).toBe(false)
    expect(task.text('old')).toBe('text')
  })

  it('follows the file policy of its bundle', async () => {
    const task = createFileTask({ '.env': 'KEY' })
    const tools = createBuiltinTools({ files: { deny: ['.env'], protect: [] } })
    const run = (path: string) =>
      runWithToolContext(task.context, () =>
        tools.write.execute({ path, content: 'x' }, { toolCallId: '1', messages: [] }),
      )
    await expect(run('.env')).rejects.toThrow(code('TOOL_PATH_DENIED'))
    await run('.git/hooks/pre-commit')
    expect(readFileSync(join(task.root, '.git/hooks/pre-commit'), 'utf8')).toBe('x')
  })

  it('logs the size and hash of the content, never the content', async () => {
    const task = createFileTask({ d: '' })
    await task.write('a', 'CONFIDENTIAL')
    await task.write('d/x', 'CONFIDENTIAL').catch(() => 'refused')
    const rows = await task.context.log.list({})
    expect(rows).toHaveLength(2)
    expect(JSON.parse(rows[0]?.inputJson ?? '')).toEqual({
      path: 'a',
      content: {
        bytes: 12,
        sha256: '41f0c9c802bd8c3b29e5e62b4cc4e606bfc943d8109c8005c67f6e438314d09c',
      },
    })
    expect(JSON.stringify(rows)).not.toContain('CONFIDENTIAL')
  })
})
