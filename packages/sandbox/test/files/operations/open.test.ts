import { existsSync, linkSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { code } from '../../fixtures/error-code.ts'
import { createWorkspace } from '../../fixtures/workspace.ts'

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
