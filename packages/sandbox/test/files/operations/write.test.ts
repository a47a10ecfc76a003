import {
  chmodSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code } from '../../fixtures/error-code.ts'
import { createWorkspace, leftovers } from '../../fixtures/workspace.ts'

describe('SandboxFiles.write', () => {
  it('creates parent directories and replaces existing contents', async () => {
    const { root, files } = createWorkspace()
    await files.write('a/b/c.txt', 'one')
    await files.write('a/b/c.txt', Buffer.from('two'))
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('two')
    expect(leftovers(join(root, 'a/b'))).toEqual([])
  })

  it('writes contents of every size and type, with and without waiting for the disk', async () => {
    const { root, files } = createWorkspace()
    async function* chunks() {
      yield Buffer.alloc(70_000, 'a')
      yield Buffer.alloc(300_000, 'b')
    }
    for (const durability of ['fsync', 'relaxed'] as const) {
      for (const size of [0, 1, 262_144, 262_145, 2_500_000]) {
        const bytes = Buffer.alloc(size, 'abcdefg')
        await files.write('f', bytes, { durability })
        expect(bytes.equals(readFileSync(join(root, 'f'))), `${durability} ${size}`).toBe(true)
      }
      await files.write('f', chunks(), { durability })
      expect(statSync(join(root, 'f')).size).toBe(370_000)
    }
  })

  it('writes texts at once without mixing them, whatever their characters and lengths', async () => {
    const { root, files } = createWorkspace()
    const lengths = [0, 1, 1000, 65_536, 87_381, 131_070, 262_139, 262_140, 262_144, 262_145]
    const texts = ['x', 'é', '€', '🙂'].flatMap((character) =>
      lengths.map((length) => character.repeat(length).slice(0, length - (length % 2))),
    )
    for (const durability of ['fsync', 'relaxed'] as const) {
      await Promise.all(texts.map((text, n) => files.write(`f${n}`, text, { durability })))
      await Promise.all(
        texts.map((text, n) => files.updateText(`f${n}`, () => `${text}${n}`, { durability })),
      )
      for (const [n, text] of texts.entries()) {
        expect(readFileSync(join(root, `f${n}`), 'utf8') === `${text}${n}`, `file ${n}`).toBe(true)
      }
    }
  })

  it('keeps the permissions of a replaced file, and gives a new file the usual ones', async () => {
    const { root, files } = createWorkspace({ old: '' })
    chmodSync(join(root, 'old'), 0o751)
    await files.write('old', 'x')
    await files.write('new', 'x')
    writeFileSync(join(root, 'usual'), '')
    expect(statSync(join(root, 'old')).mode & 0o7777).toBe(0o751)
    expect(statSync(join(root, 'new')).mode).toBe(statSync(join(root, 'usual')).mode)
  })

  it('drops set-uid, which applied to the old contents', async () => {
    const { root, files } = createWorkspace({ program: '' })
    chmodSync(join(root, 'program'), 0o4755)
    await files.write('program', 'x')
    expect(statSync(join(root, 'program')).mode & 0o7777).toBe(0o755)
  })

  it('writes to the target of a link inside the root, and keeps the link', async () => {
    const { root, files } = createWorkspace({ target: 'old' })
    symlinkSync('target', join(root, 'link'))
    symlinkSync('later', join(root, 'dangling'))
    await files.write('link', 'new')
    await files.write('dangling', 'made')
    expect(readlinkSync(join(root, 'link'))).toBe('target')
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('new')
    expect(readFileSync(join(root, 'later'), 'utf8')).toBe('made')
  })

  it('never follows a link out of the root, dangling or not', async () => {
    const { root, outside, files } = createWorkspace()
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link'))
    symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'))
    symlinkSync(outside, join(root, 'directory'))
    for (const path of ['link', 'dangling', 'directory/new.txt', 'directory/deep/new.txt']) {
      await expect(files.write(path, 'x'), path).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    }
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })

  it('refuses the root, a directory, and a path with a trailing slash', async () => {
    const { files } = createWorkspace({ 'a/f': '' })
    for (const path of ['.', 'a', 'a/', 'a/..', 'new/', 'a/new/.']) {
      await expect(files.write(path, 'x'), path).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    }
  })

  it('refuses to go below a file', async () => {
    const { files } = createWorkspace({ f: '' })
    await expect(files.write('f/x', '')).rejects.toThrow(code('TOOL_PATH_INVALID'))
  })

  it('creates no directory for a path that must be a file', async () => {
    const { root, files } = createWorkspace({})
    symlinkSync('made/', join(root, 'link'))
    for (const path of ['made/', 'made/.', 'link']) {
      await expect(files.write(path, 'x'), path).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    }
    expect(readdirSync(root)).toEqual(['link'])
    symlinkSync('deep/er/file', join(root, 'dangling'))
    await files.write('dangling', 'x')
    expect(readFileSync(join(root, 'deep/er/file'), 'utf8')).toBe('x')
    expect(readlinkSync(join(root, 'dangling'))).toBe('deep/er/file')
  })

  it('refuses text that UTF-8 cannot encode', async () => {
    const { root, files } = createWorkspace({ f: 'old' })
    const half = 'ab\ud83d'
    for (const write of [
      () => files.write('f', half),
      () => files.write('new', half, { durability: 'relaxed' }),
      () => files.updateText('f', () => half),
    ]) {
      const writing = write()
      await expect(writing).rejects.toThrow(code('INVALID_INPUT'))
      await expect(writing).rejects.toThrow('at index 2')
    }
    await files.write('whole', 'ab\ud83d\ude00')
    expect(readdirSync(root).toSorted()).toEqual(['f', 'whole'])
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old')
    expect(readFileSync(join(root, 'whole'), 'utf8')).toBe('ab😀')
  })

  it('refuses to replace anything with create: true', async () => {
    const { root, files } = createWorkspace({ old: 'old' })
    symlinkSync('nowhere', join(root, 'dangling'))
    for (const path of ['old', 'dangling']) {
      await expect(files.write(path, 'x', { create: true }), path).rejects.toThrow('already exists')
    }
    await files.write('new', 'made', { create: true })
    expect(readFileSync(join(root, 'new'), 'utf8')).toBe('made')
    expect(readFileSync(join(root, 'old'), 'utf8')).toBe('old')
    expect(leftovers(root)).toEqual([])
  })

  it.each([
    [{ creat: true }, 'Unknown option "creat". Did you mean create?'],
    [{ exclusive: true }, 'Unknown option "exclusive". The options are durability, create.'],
    [{ create: 'exclusive' }, 'create is "exclusive". Pass true or false.'],
    [{ durability: 'none' }, 'durability is "none".'],
  ])('overwrites nothing with the options %j', async (options, message) => {
    const { root, files } = createWorkspace({ f: 'old' })
    const writing = files.write('f', 'new', options as never)
    await expect(writing).rejects.toThrow(code('INVALID_INPUT'))
    await expect(writing).rejects.toThrow(message)
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old')
  })

  it('lets one of many concurrent creators succeed, and refuses the others', async () => {
    const { root, files } = createWorkspace()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => files.write('f', String(index), { create: true })),
    )
    const won = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
    expect(won).toHaveLength(1)
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe(String(won[0]))
  })

  it('leaves no file behind when the source of a stream fails', async () => {
    const { root, files } = createWorkspace({ f: 'old' })
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('source failed')
    }
    await expect(files.write('f', broken())).rejects.toThrow('source failed')
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old')
    expect(readdirSync(root)).toEqual(['f'])
  })
})
