import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
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
import { createWorkspace, openDescriptors } from '../../fixtures/workspace.ts'

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
