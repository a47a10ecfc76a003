import { readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxFiles, SandboxError } from '@smithers/sandbox'
import { describe, expect, it } from 'vitest'
import { code } from '../../fixtures/error-code.ts'
import { createWorkspace } from '../../fixtures/workspace.ts'

describe('SandboxFiles.read', () => {
  it('returns bytes of every size around the bounds of its buffers', async () => {
    const { root, files } = createWorkspace()
    for (const size of [0, 1, 65_535, 65_536, 65_537, 262_144, 262_145, 3_000_000]) {
      const bytes = Buffer.alloc(size, 'abcdefg')
      writeFileSync(join(root, 'f'), bytes)
      expect(bytes.equals(await files.read('f')), `${size} bytes`).toBe(true)
    }
  })

  it('reads a file of exactly the limit and refuses one byte more', async () => {
    const { files } = createWorkspace({ f: 'x'.repeat(300_000) })
    expect(await files.read('f', { maxBytes: 300_000 })).toHaveLength(300_000)
    const refusal = files.read('f', { maxBytes: 299_999 })
    await expect(refusal).rejects.toThrow(
      'File too large: "f" has 300000 bytes, the limit is 299999.',
    )
    await expect(refusal).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
  })

  it('refuses a huge sparse file without reading it', async () => {
    const { root, files } = createWorkspace({ f: '' })
    truncateSync(join(root, 'f'), 2 ** 40)
    await expect(files.read('f')).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
  })

  it('reads a file that reports size 0 and has contents', async () => {
    const files = createSandboxFiles({ rootDir: '/proc/self' })
    expect(await files.readText('status')).toContain('Name:')
    files.close()
  })

  it('follows links inside the root, relative, absolute and through directories', async () => {
    const { root, files } = createWorkspace({ 'a/b/f': 'text' })
    symlinkSync('b/f', join(root, 'a/file'))
    symlinkSync(join(root, 'a'), join(root, 'absolute'))
    symlinkSync('../a/./b/../b', join(root, 'a/around'))
    for (const path of ['a/file', 'absolute/file', 'absolute/b/f', 'a/around/f', './/a//b/f']) {
      expect(await files.readText(path), path).toBe('text')
    }
  })

  it.each([
    '/proc/self/root',
    '/proc/self/cwd',
    '/dev/fd',
    '/proc/self/fd',
    '..',
    '/',
    '../outside',
  ])('refuses a link to %s', async (target) => {
    const { root, files } = createWorkspace()
    symlinkSync(target, join(root, 'link'))
    for (const path of ['link', 'link/secret.txt', 'link/etc/passwd', 'link/../x']) {
      await expect(files.read(path), path).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    }
    await expect(files.list('link')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(files.write('link/new', 'x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
  })

  it('does not reveal the target of a link out of the root', async () => {
    const { root, outside, files } = createWorkspace()
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link'))
    const error: unknown = await files.read('link').catch((reason: unknown) => reason)
    expect(SandboxError.isInstance(error) && JSON.stringify(error)).not.toContain('secret.txt')
  })

  it('refuses circular links', async () => {
    const { root, files } = createWorkspace()
    symlinkSync('b', join(root, 'a'))
    symlinkSync('a', join(root, 'b'))
    await expect(files.read('a')).rejects.toThrow('symbolic links')
  })

  it('follows forty links and refuses the forty-first, as Linux does', async () => {
    const { root, files } = createWorkspace({ l0: 'text' })
    for (let index = 1; index <= 41; index += 1)
      symlinkSync(`l${index - 1}`, join(root, `l${index}`))
    expect(await files.readText('l40')).toBe(readFileSync(join(root, 'l40'), 'utf8'))
    expect(() => readFileSync(join(root, 'l41'))).toThrow('ELOOP')
    await expect(files.readText('l41')).rejects.toThrow(code('TOOL_PATH_INVALID'))
  })

  it('names the requested path when it is missing', async () => {
    const { files } = createWorkspace({ 'a/f': '' })
    for (const path of ['none', 'a/none', 'none/f', 'a/none/../f']) {
      await expect(files.read(path), path).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    }
    await expect(files.read('a/f/')).rejects.toThrow('not a directory')
  })
})

describe('SandboxFiles.readText', () => {
  it('removes a byte order mark from the text', async () => {
    const { files } = createWorkspace({ f: '\uFEFFtext' })
    expect(await files.readText('f')).toBe('text')
  })

  it.each([
    ['Latin-1', Buffer.from('caf\xe9 au lait', 'latin1'), 'Latin-1'],
    ['UTF-16', Buffer.from('\uFEFFtext', 'utf16le'), 'UTF-16 text (little endian)'],
    ['a cut character', Buffer.from('é').subarray(0, 1), 'Latin-1'],
    ['a surrogate in bytes', Buffer.from([0xed, 0xa0, 0x80]), 'Latin-1'],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]), 'a PNG image'],
  ])('refuses %s with its size and what it looks like', async (_, bytes, looksLike) => {
    const { root, files } = createWorkspace()
    writeFileSync(join(root, 'f'), bytes)
    const refusal = files.readText('f')
    await expect(refusal).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
    await expect(refusal).rejects.toThrow(`${bytes.length} bytes`)
    await expect(refusal).rejects.toThrow(looksLike)
  })
})

describe('SandboxFiles.readLines', () => {
  const lines = Array.from({ length: 90_000 }, (_, index) => `line ${index + 1}`)

  it('returns lines with their endings from a file larger than the limit', async () => {
    const { files } = createWorkspace({ f: `${lines.join('\n')}\n` })
    const maxBytes = 100
    const part = await files.readLines('f', { startLine: 80_000, endLine: 80_001, maxBytes })
    expect(part.text).toBe('line 80000\nline 80001\n')
    const end = await files.readLines('f', { startLine: 89_999, maxBytes })
    expect(end).toEqual({ text: 'line 89999\nline 90000\n', totalLines: 90_000 })
    const past = await files.readLines('f', { startLine: 90_001, maxBytes })
    expect(past).toEqual({ text: '', totalLines: 90_000 })
    await expect(files.readLines('f', { startLine: 1, maxBytes })).rejects.toThrow(
      code('TOOL_FILE_TOO_LARGE'),
    )
  })

  it('returns the first lines that fit on request, but no part of a line', async () => {
    const { files } = createWorkspace({ f: `${lines.join('\n')}\n`, long: 'x'.repeat(101) })
    const choice = { maxBytes: 25, cut: true }
    const first = await files.readLines('f', choice)
    expect(first).toEqual({ text: 'line 1\nline 2\nline 3\n', totalLines: undefined })
    const last = await files.readLines('f', { ...choice, startLine: 89_999 })
    expect(last).toEqual({ text: 'line 89999\nline 90000\n', totalLines: 90_000 })
    const exact = await files.readLines('f', { startLine: 89_999, maxBytes: 22, cut: true })
    expect(exact).toEqual(last)
    await expect(files.readLines('long', choice)).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
  })

  it('returns parts that join to the whole file', async () => {
    for (const text of ['', 'a', 'a\n', 'a\r\nb\n\nc', '\n\n', '\uFEFFa\nb']) {
      const { files } = createWorkspace({ f: text })
      let whole = ''
      for (let line = 1; line <= 5; line += 1) {
        whole += (await files.readLines('f', { startLine: line, endLine: line })).text
      }
      expect(whole).toBe(text.replace('\uFEFF', ''))
    }
  })
})
