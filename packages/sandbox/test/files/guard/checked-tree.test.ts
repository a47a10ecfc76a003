import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCheckedTree } from '../../../src/files/guard/checked-tree.ts'
import { createWorkspace } from '../../fixtures/workspace.ts'

const escape = expect.objectContaining({ code: 'TOOL_PATH_ESCAPE' })

// The guard of macOS and Windows, run here on whatever this is.
describe('the guard without descriptors', () => {
  it('reports itself as checked, and supports every operation', async () => {
    const { root, files } = createWorkspace({ 'a/f': 'text' }, { guard: 'checked' })
    expect(files.guard).toBe('checked')
    await files.write('b/c/new', 'new')
    await files.updateText('a/f', (text) => `${text}+`)
    await files.rename('a/f', 'b/f')
    await files.mkdir('d/e')
    await files.chmod('b/f', 0o600)
    await files.write('d/created', 'x', { create: true })
    expect(readFileSync(join(root, 'b/f'), 'utf8')).toBe('text+')
    expect((await files.list('b')).map(({ name }) => name)).toEqual(['c', 'f'])
    expect(await files.remove('b', { recursive: true })).toBe(true)
    expect(files.openDirectory('d')).toMatchObject({ fd: undefined, absolutePath: join(root, 'd') })
    using file = await files.open('d/created', { access: 'read-write' })
    expect(file.sizeBytes).toBe(1)
    expect(readdirSync(root)).toEqual(['a', 'd'])
  })

  it('refuses links that lead out', async () => {
    const { root, outside, files } = createWorkspace({}, { guard: 'checked' })
    symlinkSync(outside, join(root, 'link'))
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'))
    for (const path of ['link/secret.txt', 'file', '../outside/secret.txt']) {
      await expect(files.read(path), path).rejects.toThrow(escape)
      await expect(files.write(path, 'x'), path).rejects.toThrow(escape)
    }
    await expect(files.mkdir('link/new')).rejects.toThrow(escape)
    await expect(files.rename('file', 'link/moved')).rejects.toThrow(escape)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
  })

  it('detects a directory that was exchanged between check and use', () => {
    const { root, outside } = createWorkspace({ 'a/f': '' })
    const tree = openCheckedTree(root)
    const directory = tree.openDirectory(tree.root, 'a')
    directory.recheck()
    renameSync(join(root, 'a'), join(root, 'b'))
    symlinkSync(outside, join(root, 'a'))
    expect(() => directory.recheck()).toThrow(escape)
  })

  it('detects a file that was exchanged between check and open', () => {
    const { root } = createWorkspace({ 'a/f': 'looked at', 'a/g': 'other' })
    const tree = openCheckedTree(root)
    const entry = tree.openEntry(tree.openDirectory(tree.root, 'a'), 'f')
    renameSync(join(root, 'a/g'), join(root, 'a/f'))
    expect(() => entry?.open(0)).toThrow(escape)
    expect(existsSync(join(root, 'a/f'))).toBe(true)
    mkdirSync(join(root, 'c'))
    expect(() => tree.openDirectory(tree.root, 'none')).toThrow('ENOENT')
  })
})
