import { linkSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

describe('a hard link to a file outside', () => {
  it('can be read, and changed in no way', async () => {
    const { root, outside, files } = createWorkspace()
    const secret = join(outside, 'secret.txt')
    linkSync(secret, join(root, 'link'))
    const before = statSync(secret)
    expect(await files.readText('link')).toBe('SECRET')
    const refused = expect.objectContaining({ code: 'TOOL_PATH_DENIED' })
    await expect(files.write('link', 'x')).rejects.toThrow(refused)
    await expect(files.updateText('link', () => 'x')).rejects.toThrow(refused)
    await expect(files.open('link', { access: 'write', truncate: true })).rejects.toThrow(refused)
    await expect(files.open('link', { access: 'append' })).rejects.toThrow(refused)
    await expect(files.chmod('link', 0o777)).rejects.toThrow('maxLinks')
    const after = statSync(secret)
    expect(readFileSync(secret, 'utf8')).toBe('SECRET')
    expect([after.mode, after.mtimeMs, after.ctimeMs]).toEqual([
      before.mode,
      before.mtimeMs,
      before.ctimeMs,
    ])
  })

  it('is replaced, and so left alone, when more links are allowed', async () => {
    const { root, outside, files } = createWorkspace({}, { maxLinks: 2 })
    linkSync(join(outside, 'secret.txt'), join(root, 'link'))
    await files.write('link', 'ours')
    expect(readFileSync(join(root, 'link'), 'utf8')).toBe('ours')
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })
})
