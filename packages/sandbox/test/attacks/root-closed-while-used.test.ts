import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxFiles, type SandboxFiles } from '@smithers/sandbox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWorkspace, leftovers, openDescriptors } from '../fixtures/workspace.ts'

const closed = expect.objectContaining({
  code: 'TOOL_CLOSED',
  message: expect.stringContaining(
    'These files were closed, so nothing was done. Open the root again',
  ),
})

/** More than are removed or listed in one step. */
const many = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`cache/${index}/file`, 'a']),
)

/** Opens roots until one could have got any number that was given back. */
function openOthers(root: string): void {
  const others: SandboxFiles[] = []
  for (let count = 0; count < 8; count += 1) others.push(createSandboxFiles({ rootDir: root }))
  onTestFinished(() => others.forEach((files) => files.close()))
}

describe.runIf(process.platform === 'linux')('files closed while an operation runs', () => {
  it('remove nothing of a root that is opened next', async () => {
    const { root, files } = createWorkspace(many)
    const other = createWorkspace({ 'cache/precious': 'b' })
    const removed = files.remove('cache', { recursive: true })
    files.close()
    openOthers(other.root)
    await expect(removed).rejects.toThrow(closed)
    expect(readFileSync(join(other.root, 'cache/precious'), 'utf8')).toBe('b')
    // What was begun ends with a whole step, and nothing pretends that all is gone.
    expect(existsSync(join(root, 'cache'))).toBe(true)
  })

  it('remove no empty directory of a root that is opened next', async () => {
    const { files } = createWorkspace(many)
    const other = createWorkspace()
    await other.files.mkdir('cache')
    const removed = files.remove('cache', { recursive: true })
    files.close()
    openOthers(other.root)
    await removed.catch(() => {})
    expect(readdirSync(other.root)).toEqual(['cache'])
  })

  it('list nothing of a root that is opened next', async () => {
    const { files } = createWorkspace(many)
    const other = createWorkspace({ secret: 'b' })
    const entries = files.walk()
    expect(await entries.next()).toMatchObject({ value: { path: 'cache' } })
    files.close()
    openOthers(other.root)
    await expect(entries.next()).rejects.toThrow(closed)
    expect(await entries.next()).toMatchObject({ done: true })
  })

  it('end a stream that is being written, and leave nothing of it', async () => {
    const { root, files } = createWorkspace({ a: 'old' })
    const other = createWorkspace()
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('new')
      files.close()
      openOthers(other.root)
      yield Buffer.from('er')
    }
    await expect(files.write('a', chunks())).rejects.toThrow(closed)
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('old')
    expect([...leftovers(root), ...readdirSync(other.root)]).toEqual([])
  })

  // Each alone: a second one could have to wait for the next turn, and would then not be under way.
  it.each([
    ['large', 'x'.repeat(3_000_000)],
    ['sub/durable', 'y'],
  ])('complete the writing of %s that was under way, in its own root', async (path, content) => {
    const { root, files } = createWorkspace()
    const other = createWorkspace()
    const written = files.write(path, content)
    files.close()
    openOthers(other.root)
    await written
    expect(readFileSync(join(root, path), 'utf8')).toBe(content)
    expect(leftovers(root)).toEqual([])
    expect(readdirSync(other.root)).toEqual([])
  })

  it('begin nothing more', async () => {
    const { root, files } = createWorkspace({ a: 'a' })
    files.close()
    await expect(files.read('a')).rejects.toThrow(closed)
    await expect(files.write('b', 'b')).rejects.toThrow(closed)
    await expect(files.remove('a')).rejects.toThrow(closed)
    await expect(files.walk().next()).rejects.toThrow(closed)
    expect(readdirSync(root)).toEqual(['a'])
  })

  it('hold nothing when all has ended, a walk that was left alone included', async () => {
    const { root } = createWorkspace(many)
    const before = openDescriptors()
    const files = createSandboxFiles({ rootDir: root })
    await files.walk('cache').next()
    const removed = files.remove('cache', { recursive: true })
    const large = files.write('large', 'x'.repeat(3_000_000))
    files.close()
    files.close()
    await Promise.allSettled([removed, large])
    // Libuv's threads may close later; a descriptor that leaks stays open for ever.
    await expect.poll(openDescriptors).toBe(before)
  })
})
