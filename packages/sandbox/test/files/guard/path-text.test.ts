import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directoryComponents, parsePath } from '../../../src/files/guard/path-text.ts'
import { createWorkspace } from '../../fixtures/workspace.ts'

const invalid = expect.objectContaining({ code: 'TOOL_PATH_INVALID' })

describe('names of files', () => {
  it.each([
    '-rf',
    '--help',
    'a b',
    ' leading and trailing ',
    'new\nline',
    'tab\t',
    '~',
    '$HOME',
    '*',
    '...',
    '.hidden',
    'é'.repeat(120),
    '日本語',
    'x'.repeat(255),
    '\\',
    'C:\\x',
    '%2e%2e',
  ])('of every kind are used as they are: %j', async (name) => {
    const { root, files } = createWorkspace()
    await files.write(name, 'text')
    expect(readdirSync(root)).toEqual([name])
    expect(await files.readText(`./${name}`)).toBe('text')
    await files.rename(name, 'renamed')
    expect(readFileSync(join(root, 'renamed'), 'utf8')).toBe('text')
  })

  it.each([
    ['', 'is empty'],
    ['a\0b', 'NUL byte'],
    ['\0', 'NUL byte'],
    ['x'.repeat(256), 'at most 255 bytes'],
    ['é'.repeat(128), 'at most 255 bytes'],
    ['a/'.repeat(2048), 'at most 4095 bytes'],
    ['\ud800', 'half of a Unicode character'],
  ])('that no file can have are refused before anything happens: %j', async (path, reason) => {
    const { root, files } = createWorkspace()
    for (const refusal of [files.read(path), files.write(path, 'x'), files.mkdir(path)]) {
      await expect(refusal).rejects.toThrow(invalid)
      await expect(refusal).rejects.toThrow(reason)
    }
    expect(existsSync(root) && readdirSync(root)).toEqual([])
  })

  it('are escaped in messages, so that they cannot imitate other text', async () => {
    const { files } = createWorkspace()
    await expect(files.read('a\nFile not found: "b"')).rejects.toThrow(
      String.raw`"a\nFile not found: \"b\""`,
    )
    await expect(files.read(`${'deep/'.repeat(300)}x`)).rejects.toThrow('…')
  })
})

describe('parsePath', () => {
  const windows = {
    windows: true,
    rootSpellings: [directoryComponents('C:\\Work\\Root', { windows: true })],
  }

  it('reads both separators and drives on Windows', () => {
    expect(parsePath('a\\b/c', windows)).toEqual({ from: 'here', names: ['a', 'b', 'c'] })
    expect(parsePath('c:\\work\\ROOT\\a', windows)).toEqual({ from: 'root', names: ['a'] })
  })

  it.each([
    'D:\\x',
    'C:\\Work\\Root-evil\\a',
    '\\\\server\\share\\a',
    '\\\\?\\C:\\Work',
    '\\a',
    'C:a',
  ])('refuses %s on Windows', (path) => {
    expect(() => parsePath(path, windows)).toThrow(
      expect.objectContaining({ code: 'TOOL_PATH_ESCAPE' }),
    )
  })

  it.each([
    'nul',
    'COM1.txt',
    'a/con/b',
    'file:stream',
    'PROGRA~1',
    'dot.',
    'blank ',
    'a<b',
    'bell\u0007',
  ])('refuses the name %j on Windows, and nowhere else', (path) => {
    expect(() => parsePath(path, windows)).toThrow(invalid)
    expect(parsePath(path, { windows: false, rootSpellings: [] }).from).toBe('here')
  })

  it.each(['console', 'com10', 'nulled.txt', 'a~b', '.git', 'a.b.c'])(
    'takes %j on Windows',
    (path) => {
      expect(parsePath(path, windows).names).toEqual([path])
    },
  )

  it('reports the empty path as empty, not as the root', () => {
    expect(() => parsePath('', { windows: false, rootSpellings: [] })).toThrow('Path "" is empty.')
  })
})
