import { appendFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codingTools, createBuiltinTools, read, type ReadInput } from '@smithers/builtin-tools'
import { runWithToolContext, type ToolContextOptions } from '@smithers/tool-core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { code } from './fixtures/error-code.ts'
import { createFileTask } from './fixtures/file-task.ts'
import { modelReads } from './fixtures/model-reads.ts'
import { numbered } from './fixtures/numbered-lines.ts'

const call = { toolCallId: 'call-1', messages: [] }
type Contents = Readonly<Record<string, string | Buffer>>

function createTask(contents: Contents, options: ToolContextOptions = {}, tool = codingTools.read) {
  const task = createFileTask(contents, options)
  const readPaged = (input: ReadInput): PromiseLike<string> =>
    runWithToolContext(task.context, () => tool.execute(input, call))
  return { ...task, readPaged }
}

describe('read with paging', () => {
  it('returns a file that fits as it is', async () => {
    const task = createTask({ f: numbered(1, 1_000), empty: '', open: 'a\nb' })
    expect(await task.readPaged({ path: 'f' })).toBe(numbered(1, 1_000))
    expect(await task.readPaged({ path: 'empty' })).toBe('')
    expect(await task.readPaged({ path: 'open' })).toBe('a\nb')
  })

  it('returns the first page of a longer file, and says how to go on', async () => {
    const task = createTask({ f: numbered(1, 4_000) })
    expect(await task.readPaged({ path: 'f' })).toBe(
      `${numbered(1, 1_998)}[lines 1–1998 of 4000, next offset 1999]`,
    )
    expect(await task.readPaged({ path: 'f', offset: 1_999 })).toBe(
      `${numbered(1_999, 3_996)}[lines 1999–3996 of 4000, next offset 3997]`,
    )
    expect(await task.readPaged({ path: 'f', offset: 3_997 })).toBe(
      `${numbered(3_997, 4_000)}[lines 3997–4000 of 4000, end of file]`,
    )
    expect(await task.readPaged({ path: 'f', offset: 3, limit: 2 })).toBe(
      'line 3\nline 4\n[lines 3–4 of 4000, next offset 5]',
    )
  })

  it('gives every line exactly once over all pages, within the limit', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '€', ' '), maxLength: 60 })
    const text = fc
      .tuple(fc.array(line, { minLength: 1, maxLength: 200 }), fc.boolean())
      .map(([lines, ends]) => lines.join('\n') + (ends ? '\n' : ''))
    const task = createTask({}, { maxOutputBytes: 1_000 })
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (content, withNumbers) => {
        fc.pre(content !== '')
        writeFileSync(join(task.root, 'f'), content)
        let collected = ''
        for (let offset: number | undefined = 1; offset !== undefined;) {
          const page: string = await task.readPaged({ path: 'f', offset, numbered: withNumbers })
          expect(Buffer.byteLength(page)).toBeLessThanOrEqual(1_000)
          const note = /\[lines (\d+)–\d+ of \d+, (?:next offset (\d+)|end of file)\]$/u.exec(page)
          const body = note === null ? page : page.slice(0, note.index)
          collected += withNumbers ? body.replaceAll(/^\d+\t/gmu, '') : body
          offset = note?.[2] === undefined ? undefined : Number(note[2])
        }
        expect(collected.replace(/\n$/u, '')).toBe(content.replace(/\n$/u, ''))
      }),
      { numRuns: 100 },
    )
  })

  it('refuses a single line that does not fit, and keeps the refusal of the default bundle', async () => {
    const task = createTask(
      { f: 'x'.repeat(2_000), g: numbered(1, 300) },
      { maxOutputBytes: 1_000 },
    )
    await expect(task.readPaged({ path: 'f' })).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
    await expect(task.readPaged({ path: 'f' })).rejects.toThrow('Search it with grep, or cut')
    await expect(task.read('f', { limit: 1 })).rejects.toThrow('one line of "f" has more than 1000')
    await expect(task.read('g', { limit: 200 })).rejects.toThrow('Read fewer: pass a smaller limit')
    await expect(task.read('g')).rejects.toThrow(code('TOOL_FILE_TOO_LARGE'))
    expect(await task.readPaged({ path: 'g' })).toContain('of 300, next offset')
  })
})

describe('read', () => {
  it('numbers lines on request', async () => {
    const task = createTask({ f: 'a\n\nb' }, {}, read)
    expect(await task.readPaged({ path: 'f', numbered: true })).toBe('1\ta\n2\t\n3\tb')
    expect(await task.readPaged({ path: 'f', offset: 2, limit: 1, numbered: true })).toBe('2\t\n')
    appendFileSync(join(task.root, 'f'), '\n')
    const small = createBuiltinTools({ only: ['read'], limits: { maxOutputBytes: 10 } }).read
    const input = { path: 'f', numbered: true }
    const reading = runWithToolContext(task.context, () => small.execute(input, call))
    await expect(reading).rejects.toThrow('File too large: "f" has 11 bytes, the limit is 10.')
  })

  it('tells the model that a file is empty', async () => {
    const given = { toolCallId: 'c', input: { path: 'f' }, output: '' }
    expect(modelReads(read, given)).toBe('(empty file)')
    expect(modelReads(read, { ...given, output: 'x' })).toBe('x')
  })

  it.each([
    ['src/mian.ts', '"src/main.ts"'],
    ['scr/main.ts', '"src/main.ts"'],
    ['src/Main.ts', '"src/main.ts"'],
    ['src/main.js', '"src/main.ts"'],
    ['README', '"README.md"'],
  ])('names what %s may mean', async (path, near) => {
    const task = createTask({ 'src/main.ts': '', 'src/other.ts': '', 'README.md': '' })
    const reading = task.read(path)
    await expect(reading).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    await expect(reading).rejects.toThrow(`Did you mean ${near}?`)
  })

  it('does not name a link that leads nowhere as what it may mean', async () => {
    const task = createTask({ 'dangled.txt': '' })
    symlinkSync('nowhere', join(task.root, 'dangling.txt'))
    const reading = task.read('dangling.txt')
    await expect(reading).rejects.toThrow(code('TOOL_FILE_NOT_FOUND'))
    await expect(reading).rejects.not.toThrow(/Did you mean.*dangling/u)
  })

  it('names nothing that is far, denied or outside', async () => {
    const { read: guarded } = createBuiltinTools({
      only: ['read'],
      files: { deny: ['secret.txt'] },
    })
    const task = createTask({ 'secret.txt': '', other: '' }, {}, guarded)
    await expect(task.readPaged({ path: 'secret.tx' })).rejects.not.toThrow('Did you mean')
    await expect(task.readPaged({ path: 'zzz' })).rejects.not.toThrow('Did you mean')
    await expect(task.readPaged({ path: '../secre.txt' })).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
  })

  it('says what a directory has in it', async () => {
    const task = createTask({ 'src/a.ts': '', 'src/deep/b.ts': '' })
    const reading = task.read('src')
    await expect(reading).rejects.toThrow(code('TOOL_NOT_A_FILE'))
    await expect(reading).rejects.toThrow(
      '"src" is a directory, not a regular file. It has "a.ts", "deep/".',
    )
  })
})

describe('read of an image', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const url = `data:image/png;base64,${png.toString('base64')}`

  it('is a part that the model sees, in every AI SDK, and stays out of the log', async () => {
    const task = createTask({ 'a.png': png })
    const output = await task.readPaged({ path: 'a.png' })
    expect(output).toBe(url)
    const image = { mediaType: 'image/png', data: png.toString('base64') }
    const given = { toolCallId: 'c', input: { path: 'a.png' }, output }
    expect(modelReads(codingTools.read, given)).toEqual([{ type: 'image-data', ...image }])
    const { toModelOutput } = codingTools.read as unknown as {
      toModelOutput(given: string): object
    }
    expect(toModelOutput(output)).toMatchObject({ value: [{ type: 'media', ...image }] })
    const rows = JSON.stringify(await task.context.log.list({}))
    expect(rows).toContain('image/png')
    expect(rows).not.toContain(image.data)
  })

  it('goes by the contents', async () => {
    const task = createTask({ 'text.png': 'no image', 'bytes.png': Buffer.from([0xff, 0xfe, 0]) })
    expect(await task.readPaged({ path: 'text.png' })).toBe('no image')
    await expect(task.readPaged({ path: 'bytes.png' })).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
  })

  it('is not a text file with a data URL in it', async () => {
    const fakes = ['data:image/png;base64,AAAA', url.replace('png', 'jpeg'), `${url}\n`]
    for (const output of fakes) {
      const task = createTask({ 'fake.txt': output })
      expect(await task.readPaged({ path: 'fake.txt' })).toBe(output)
      const given = { toolCallId: 'c', input: { path: 'fake.txt' }, output }
      expect(modelReads(codingTools.read, given)).toBe(output)
    }
  })

  it('is made smaller when it is too large, not read by lines', async () => {
    const task = createTask({ 'big.png': Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]) })
    const reading = task.readPaged({ path: 'big.png' })
    await expect(reading).rejects.toThrow(/the image "big\.png" has .* Make a smaller one/u)
    await expect(reading).rejects.not.toThrow('offset')
  })

  it('stays refused in the default bundle', async () => {
    const task = createTask({ 'a.png': png })
    await expect(task.read('a.png')).rejects.toThrow(code('TOOL_FILE_NOT_TEXT'))
  })
})
