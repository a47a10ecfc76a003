import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createSessionFiles } from '../../src/ai-sdk-session/session-files.ts'
import { createWorkspace, leftovers } from '../fixtures/workspace.ts'

const invalid = expect.objectContaining({ code: 'INVALID_INPUT' })

/** What callers without types pass, and would have had an empty file for. */
const strange: readonly (readonly [string, unknown])[] = [
  ['a Blob', new Blob(['new'])],
  ['an ArrayBuffer', new ArrayBuffer(3)],
  ['a promise', Promise.resolve('new')],
  ['a number', 3],
  ['null', null],
  ['undefined', undefined],
  ['an array', [110, 101, 119]],
  ['an object with a length', { length: 0 }],
]

describe('contents that are neither text nor bytes', () => {
  it.each(strange)('leave the file as it was: %s', async (_, content) => {
    const { root, files } = createWorkspace({ a: 'precious' })
    for (const durability of ['fsync', 'relaxed'] as const) {
      await expect(files.write('a', content as string, { durability })).rejects.toThrow(invalid)
      // A stream waits for the promises in it itself, and cannot hold null.
      const piece = content instanceof Promise ? 3 : (content ?? 3)
      const stream = Readable.from([Buffer.from('new'), piece])
      await expect(files.write('a', stream, { durability })).rejects.toThrow(invalid)
    }
    if (content !== undefined) {
      await expect(files.update('a', () => content as string)).rejects.toThrow(invalid)
      await expect(files.updateText('a', () => content as string)).rejects.toThrow(invalid)
    }
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('precious')
    expect(leftovers(root)).toEqual([])
  })

  it('leave a file with a byte order mark as it was', async () => {
    const { root, files } = createWorkspace({ a: '\uFEFFprecious' })
    const change = (async () => 'new') as unknown as () => string
    await expect(files.updateText('a', change)).rejects.toThrow(invalid)
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('\uFEFFprecious')
  })

  it('are not made of views, whose bytes are written, all of them', async () => {
    const { root, files } = createWorkspace({ a: 'old' })
    const view = new Uint16Array([0x6261, 0x6463])
    for (const durability of ['fsync', 'relaxed'] as const) {
      await files.write('a', view as unknown as Uint8Array, { durability })
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('abcd')
      await files.write('a', new DataView(view.buffer, 1, 2) as unknown as Uint8Array, {
        durability,
      })
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('bc')
    }
    await files.update('a', () => view as unknown as Uint8Array)
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('abcd')
  })

  it('are not made of streams of text', async () => {
    const { root, files } = createWorkspace()
    await files.write('a', Readable.from(['é', Buffer.from('b'), 'c']))
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('ébc')
  })

  it('are refused where an encoding does not have a character', async () => {
    const { root, files } = createWorkspace({ a: 'precious' })
    const session = createSessionFiles(files)
    for (const encoding of ['latin1', 'binary', 'ascii']) {
      const written = session.writeTextFile({ path: 'a', content: 'price: 5 €', encoding })
      await expect(written, encoding).rejects.toThrow(invalid)
    }
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('precious')
    await session.writeTextFile({ path: 'a', content: 'é', encoding: 'latin1' })
    expect([...readFileSync(join(root, 'a'))]).toEqual([0xe9])
  })
})
