import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createSandboxFiles, SandboxError } from '@smithers/sandbox'
import { describe, expect, it } from 'vitest'
import { createWorkspace, leftovers, openDescriptors } from '../fixtures/workspace.ts'

const code = (expected: string) => expect.objectContaining({ code: expected })

describe('createSandboxFiles', () => {
  it('refuses a root that is missing, a file, or empty', () => {
    const { root } = createWorkspace({ 'a.txt': '' })
    for (const rootDir of [join(root, 'none'), join(root, 'a.txt'), '']) {
      expect(() => createSandboxFiles({ rootDir })).toThrow(code('INVALID_INPUT'))
    }
  })

  it('accepts a root that is a link, and paths in both spellings', async () => {
    const { root, outside } = createWorkspace({ 'a.txt': 'text' })
    const link = join(outside, 'link-to-root')
    symlinkSync(root, link)
    const files = createSandboxFiles({ rootDir: link })
    expect(files.rootDir).toBe(root)
    expect(await files.readText(join(link, 'a.txt'))).toBe('text')
    expect(await files.readText(join(root, 'a.txt'))).toBe('text')
    files.close()
  })

  it('refuses a directory whose name only begins like the root', async () => {
    const { root, files } = createWorkspace()
    mkdirSync(`${root}-evil`)
    writeFileSync(join(`${root}-evil`, 'a.txt'), 'SECRET')
    await expect(files.readText(join(`${root}-evil`, 'a.txt'))).rejects.toThrow(
      code('TOOL_PATH_ESCAPE'),
    )
    symlinkSync(`${root}-evil`, join(root, 'evil'))
    await expect(files.readText('evil/a.txt')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
  })

  it('notices that its root has been replaced', () => {
    const { root, files } = createWorkspace()
    expect(files.isCurrent()).toBe(true)
    renameSync(root, `${root}-old`)
    expect(files.isCurrent()).toBe(false)
    mkdirSync(root)
    expect(files.isCurrent()).toBe(false)
  })

  it('does nothing after it is closed, and leaves no descriptor', async () => {
    const { root } = createWorkspace({ 'a.txt': 'text' })
    const before = openDescriptors()
    const files = createSandboxFiles({ rootDir: root })
    files.close()
    files.close()
    await expect(files.readText('a.txt')).rejects.toThrow(code('INVALID_INPUT'))
    expect(openDescriptors()).toBe(before)
  })

  it('refuses values that are not paths or limits', async () => {
    const { root, files } = createWorkspace()
    await expect(files.readText(undefined as never)).rejects.toThrow(code('INVALID_INPUT'))
    expect(() => createSandboxFiles({ rootDir: root, maxLinks: 0 })).toThrow(code('INVALID_INPUT'))
  })
})

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

describe('SandboxFiles.update', () => {
  it('runs concurrent updates of one file one after another', async () => {
    const { files } = createWorkspace({ f: '0', 'd/x': '' })
    const paths = ['f', './f', 'd/../f']
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        files.updateText(paths[index % 3] ?? 'f', (text) => String(Number(text) + 1)),
      ),
    )
    expect(await files.readText('f')).toBe('60')
  })

  it('makes a write wait for an update of the same file', async () => {
    const { root, files } = createWorkspace({ f: 'old' })
    const order: string[] = []
    const updated = files.updateText('f', (text) => `${text}+`).then(() => order.push('update'))
    // The update has read the file and waits for the disk.
    const written = files.write('f', 'written', { durability: 'relaxed' })
    await Promise.all([updated, written.then(() => order.push('write'))])
    expect(order).toEqual(['update', 'write'])
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('written')
  })

  it.each([
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, 'theirs')
        renameSync(`${path}.new`, path)
      },
      'theirs',
    ],
    ['written in place', (path: string) => writeFileSync(path, 'theirs, longer'), 'theirs, longer'],
    ['written with the same length', (path: string) => writeFileSync(path, 'ours!'), 'ours!'],
    ['removed', (path: string) => rmSync(path), undefined],
    [
      'replaced by a directory',
      (path: string) => {
        rmSync(path)
        mkdirSync(path)
      },
      'directory',
    ],
  ] as const)(
    'refuses when the file is %s by another program meanwhile',
    async (_, change, left) => {
      const { root, files } = createWorkspace({ f: 'text!' })
      const path = join(root, 'f')
      const update = files.updateText('f', (text) => {
        change(path)
        return `${text} ours`
      })
      await expect(update).rejects.toThrow(code('TOOL_FILE_CHANGED'))
      if (left === undefined) expect(existsSync(path)).toBe(false)
      else if (left === 'directory') expect(statSync(path).isDirectory()).toBe(true)
      else expect(readFileSync(path, 'utf8')).toBe(left)
      expect(leftovers(root)).toEqual([])
    },
  )

  it('keeps a byte order mark, and does not touch the file when nothing changes', async () => {
    const { root, files } = createWorkspace({ f: '\uFEFFtext' })
    await files.updateText('f', (text) => text.toUpperCase())
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('\uFEFFTEXT')
    const before = statSync(join(root, 'f')).ino
    await files.updateText('f', () => undefined)
    expect(statSync(join(root, 'f')).ino).toBe(before)
  })

  it('releases the lock when the change throws', async () => {
    const { files } = createWorkspace({ f: 'text' })
    const failed = files.update('f', () => {
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await files.updateText('f', () => 'after')
    expect(await files.readText('f')).toBe('after')
  })

  it('refuses a file that is not text without touching it', async () => {
    const { root, files } = createWorkspace()
    const bytes = Buffer.from('caf\xe9\n', 'latin1')
    writeFileSync(join(root, 'f'), bytes)
    await expect(files.updateText('f', (text) => text)).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
    expect(bytes.equals(readFileSync(join(root, 'f')))).toBe(true)
  })
})

describe('SandboxFiles.open', () => {
  it('reads, writes in place, appends and truncates through a descriptor', async () => {
    const { root, files } = createWorkspace({ f: 'one' })
    const text = () => readFileSync(join(root, 'f'), 'utf8')
    {
      using file = await files.open('f')
      const buffer = Buffer.alloc(10)
      expect(buffer.toString('utf8', 0, readSync(file.fd, buffer))).toBe('one')
      expect(file).toMatchObject({ relativePath: 'f', sizeBytes: 3 })
      expect(() => writeFileSync(file.fd, 'x')).toThrow('EBADF')
    }
    const put = async (content: string, options: Parameters<typeof files.open>[1]) => {
      using file = await files.open('f', options)
      writeFileSync(file.fd, content)
    }
    await put(' two', { access: 'append' })
    expect(text()).toBe('one two')
    await put('ONE', { access: 'write' })
    expect(text()).toBe('ONE two')
    await put('new', { access: 'read-write', truncate: true })
    expect(text()).toBe('new')
  })

  it('creates when asked to, exclusively when asked to', async () => {
    const { root, files } = createWorkspace()
    await expect(files.open('f', { access: 'write' })).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    ;(await files.open('f', { access: 'write', create: true })).close()
    expect(existsSync(join(root, 'f'))).toBe(true)
    ;(await files.open('f', { access: 'write', create: true })).close()
    await expect(files.open('f', { access: 'write', create: 'exclusive' })).rejects.toThrow(
      'exists',
    )
  })

  it('does not truncate a file that it refuses', async () => {
    const { root, files } = createWorkspace({ f: 'text' })
    linkSync(join(root, 'f'), join(root, 'second-name'))
    const refused = files.open('f', { access: 'write', truncate: true })
    await expect(refused).rejects.toThrow(code('TOOL_PATH_DENIED'))
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('text')
  })
})

describe('SandboxFiles.mkdir, rename, remove and chmod', () => {
  it('creates directories, and accepts existing ones', async () => {
    const { root, files } = createWorkspace({ f: '' })
    await files.mkdir('a/b/c')
    await files.mkdir('a/b/c')
    expect(statSync(join(root, 'a/b/c')).isDirectory()).toBe(true)
    await expect(files.mkdir('f')).rejects.toThrow('not a directory')
  })

  it('renames files, directories and links themselves', async () => {
    const { root, files } = createWorkspace({ 'a/f': 'text', g: 'other' })
    symlinkSync('nowhere', join(root, 'link'))
    await files.rename('a', 'b')
    await files.rename('b/f', 'g')
    await files.rename('link', 'b/moved')
    expect(readFileSync(join(root, 'g'), 'utf8')).toBe('text')
    expect(readlinkSync(join(root, 'b/moved'))).toBe('nowhere')
    await expect(files.rename('none', 'x')).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    await expect(files.rename('g', 'b')).rejects.toThrow('directory')
    await expect(files.rename('g', 'nowhere/x')).rejects.toThrow('"nowhere/x" does not exist')
    await expect(files.rename('g', '../x')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(files.rename('.', 'x')).rejects.toThrow('root directory')
  })

  it('removes a link, not its target', async () => {
    const { root, outside, files } = createWorkspace({ 'a/f': '' })
    symlinkSync(outside, join(root, 'out'))
    symlinkSync('a', join(root, 'in'))
    expect(await files.remove('out', { recursive: true })).toBe(true)
    expect(await files.remove('in', { recursive: true })).toBe(true)
    expect(await files.remove('in')).toBe(false)
    expect(existsSync(join(root, 'a/f'))).toBe(true)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  it('removes a tree with links out of it, names that are not UTF-8, and unreadable entries', async () => {
    const { root, outside, files } = createWorkspace({ 't/a/f': '', 't/b/c/d/g': '' })
    symlinkSync(outside, join(root, 't/a/out'))
    symlinkSync('..', join(root, 't/b/up'))
    const odd = Buffer.concat([Buffer.from(join(root, 't/b/')), Buffer.from([0xff, 0xfe, 0x41])])
    writeFileSync(odd, '')
    mkdirSync(join(root, 't/-rf'))
    writeFileSync(join(root, 't/new\nline'), '')
    execFileSync('mkfifo', [join(root, 't/fifo')])
    await expect(files.remove('t')).rejects.toThrow('recursive: true')
    expect(await files.remove('t', { recursive: true })).toBe(true)
    expect(existsSync(join(root, 't'))).toBe(false)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  it('removes a tree deeper than any path and any number of descriptors', async () => {
    const { root, files } = createWorkspace()
    const script = `import os
os.chdir(${JSON.stringify(root)})
os.mkdir("t"); os.chdir("t")
for i in range(1200):
    os.mkdir("deep"); open("f", "w").close(); os.chdir("deep")`
    execFileSync('python3', ['-c', script])
    const before = openDescriptors()
    expect(await files.remove('t', { recursive: true })).toBe(true)
    expect(readdirSync(root)).toEqual([])
    expect(openDescriptors()).toBe(before)
  })

  it('refuses the root in every spelling', async () => {
    const { files } = createWorkspace({ 'a/f': '' })
    for (const path of ['.', './', 'a/..', files.rootDir]) {
      await expect(files.remove(path, { recursive: true }), path).rejects.toThrow('root directory')
    }
    expect(await files.exists('a/f')).toBe(true)
  })

  it("sets permissions of a link's target inside the root, and of nothing outside", async () => {
    const { root, outside, files } = createWorkspace({ f: '' })
    symlinkSync('f', join(root, 'in'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'out'))
    await files.chmod('in', 0o711)
    expect(statSync(join(root, 'f')).mode & 0o7777).toBe(0o711)
    const before = statSync(join(outside, 'secret.txt')).mode
    await expect(files.chmod('out', 0o777)).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    expect(statSync(join(outside, 'secret.txt')).mode).toBe(before)
  })
})

describe('SandboxFiles.list, walk, stat and exists', () => {
  it('lists by name and reports links as links', async () => {
    const { root, files } = createWorkspace({ 'b/f': '', a: '' })
    symlinkSync('/etc', join(root, 'c'))
    expect(await files.list()).toEqual([
      { name: 'a', path: 'a', kind: 'file' },
      { name: 'b', path: 'b', kind: 'directory' },
      { name: 'c', path: 'c', kind: 'symlink' },
    ])
    expect(await files.list('b')).toEqual([{ name: 'f', path: 'b/f', kind: 'file' }])
    await expect(files.list('a')).rejects.toThrow('not a directory')
    await expect(files.list('none')).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
  })

  it('walks parents first, follows no link, and can be stopped at any point', async () => {
    const { root, files } = createWorkspace({ 'a/b/f': '', 'a/c': '', z: '' })
    symlinkSync('..', join(root, 'a/up'))
    const before = openDescriptors()
    const found: string[] = []
    for await (const { path } of files.walk()) found.push(path)
    expect(found).toEqual(['a', 'a/b', 'a/b/f', 'a/c', 'a/up', 'z'])
    for await (const { path } of files.walk('a')) if (path === 'a/b/f') break
    expect(openDescriptors()).toBe(before)
  })

  it('refuses a tree that is too deep instead of leaving a part out', async () => {
    const { files } = createWorkspace({ [`${'d/'.repeat(600)}f`]: '' })
    const before = openDescriptors()
    const walkAll = async () => {
      let count = 0
      for await (const entry of files.walk()) count += entry.name.length
      return count
    }
    await expect(walkAll()).rejects.toThrow('more than 512 directories deep')
    expect(openDescriptors()).toBe(before)
  })

  it('describes the object at a path, or the link itself', async () => {
    const { root, files } = createWorkspace({ 'a/f': 'text' })
    symlinkSync('a/f', join(root, 'link'))
    expect(await files.stat('link')).toMatchObject({
      path: 'a/f',
      kind: 'file',
      sizeBytes: 4,
      links: 1,
    })
    expect(await files.stat('link', { followLink: false })).toMatchObject({
      path: 'link',
      kind: 'symlink',
    })
    expect(await files.stat('.')).toMatchObject({ path: '', kind: 'directory' })
    expect(await files.stat('a/..')).toMatchObject({ path: '', kind: 'directory' })
    await expect(files.stat('none')).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
  })

  it('reports whether a path exists, and refuses to report on the outside', async () => {
    const { root, files } = createWorkspace({ f: '' })
    symlinkSync('nowhere', join(root, 'dangling'))
    expect(await files.exists('f')).toBe(true)
    for (const path of ['none', 'none/f', 'f/x', 'dangling']) {
      expect(await files.exists(path), path).toBe(false)
    }
    await expect(files.exists('../outside')).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
  })

  it('opens a directory in which a process can start', () => {
    const { root, files } = createWorkspace({ 'a/f': '' })
    symlinkSync('a', join(root, 'link'))
    const before = openDescriptors()
    const directory = files.openDirectory('link')
    expect(directory).toMatchObject({ absolutePath: join(root, 'a'), relativePath: 'a' })
    expect(readdirSync(`/proc/self/fd/${directory.fd}`)).toEqual(['f'])
    directory.close()
    directory.close()
    const top = files.openDirectory()
    expect(lstatSync(`/proc/self/fd/${top.fd}/a`).isDirectory()).toBe(true)
    top.close()
    expect(openDescriptors()).toBe(before)
    expect(() => files.openDirectory('..')).toThrow(code('TOOL_PATH_ESCAPE'))
    expect(() => files.openDirectory('a/f')).toThrow('not a directory')
  })
})

describe('options of the methods', () => {
  it('are refused when they do not exist', async () => {
    const { files } = createWorkspace({ f: 'text', 'd/f': '' })
    const wrong = { wrong: 1 } as never
    for (const call of [
      () => files.read('f', wrong),
      () => files.readText('f', wrong),
      () => files.readLines('f', wrong),
      () => files.update('f', () => 'x', wrong),
      () => files.updateText('f', () => 'x', wrong),
      () => files.open('f', wrong),
      () => files.remove('d', wrong),
      () => files.stat('f', wrong),
    ]) {
      await expect(call()).rejects.toThrow('Unknown option "wrong"')
    }
    expect(await files.readText('f', { maxBytes: 4 })).toBe('text')
    await expect(files.remove('d', { recursive: 1 } as never)).rejects.toThrow('recursive is 1.')
    expect(await files.exists('d/f')).toBe(true)
  })
})

describe('temporary names', () => {
  it('do not reveal the next one', async () => {
    const { root, files } = createWorkspace({})
    const seen: string[] = []
    const watcher = async function* (): AsyncGenerator<Uint8Array> {
      seen.push(...readdirSync(root).filter((name) => name.endsWith('.tmp')))
      yield Buffer.from('x')
    }
    for (const name of ['a', 'b', 'c']) await files.write(name, watcher())
    const stems = seen.map((name) => name.replace('.smithers-', '').slice(0, 8))
    expect(seen).toHaveLength(3)
    expect(new Set(stems).size).toBe(3)
    // What a way of counting on would use next.
    for (let index = 0; index < 500; index += 1) {
      for (const name of seen) {
        const next = name.replace(/^(\.smithers-)[\w-]{16}/u, `$1${index.toString(36)}`)
        writeFileSync(join(root, next), '')
      }
    }
    await files.write('d', 'text')
    expect(readFileSync(join(root, 'd'), 'utf8')).toBe('text')
  })
})

describe('many operations at once', () => {
  it('do not fail, leak descriptors or block the event loop', async () => {
    const { files } = createWorkspace({ 'd/f': 'x'.repeat(1000) })
    const before = openDescriptors()
    let turns = 0
    const counter = setInterval(() => {
      turns += 1
    }, 1)
    const many = Array.from({ length: 1000 }, (_, index) => index)
    await Promise.all(many.map((index) => files.write(`w/${index % 50}/${index}`, 'text')))
    await Promise.all(many.map(() => files.readText('d/f')))
    await Promise.all(
      many.map((index) => files.write(`r/${index}`, 'text', { durability: 'relaxed' })),
    )
    await Promise.all(many.map(() => files.stat('d/f')))
    clearInterval(counter)
    expect(openDescriptors()).toBe(before)
    expect(turns).toBeGreaterThan(3)
    expect(await files.list('r')).toHaveLength(1000)
  })
})
