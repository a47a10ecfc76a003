import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxFiles } from '@smithers/sandbox'
import { describe, expect, it } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createWorkspace, openDescriptors } from '../fixtures/workspace.ts'

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
    await expect(files.readText('a.txt')).rejects.toThrow(code('TOOL_CLOSED'))
    expect(openDescriptors()).toBe(before)
  })

  it('refuses values that are not paths or limits', async () => {
    const { root, files } = createWorkspace()
    await expect(files.readText(undefined as never)).rejects.toThrow(code('INVALID_INPUT'))
    expect(() => createSandboxFiles({ rootDir: root, maxLinks: 0 })).toThrow(code('INVALID_INPUT'))
  })
})
