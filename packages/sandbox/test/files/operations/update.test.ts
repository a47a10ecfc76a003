import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code } from '../../fixtures/error-code.ts'
import { createWorkspace, leftovers } from '../../fixtures/workspace.ts'

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
