import { lstatSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code } from '../../fixtures/error-code.ts'
import { createWorkspace, openDescriptors } from '../../fixtures/workspace.ts'

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
