import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

/** Starts the program and ends it, with a place for caches. */
async function startWith(cacheHome: string, root: string): Promise<void> {
  const { command, args } = serverProgram('--root', root, '--read-only')
  const env = { XDG_CACHE_HOME: cacheHome, NODE_COMPILE_CACHE: undefined }
  const { exitCode } = await execa(command, args, { reject: false, input: '', env })
  expect(exitCode).toBe(0)
}

/** The files of compiled code beneath a folder. */
function compiledIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

// Compiled code that a tool or another user could write would run at the next start, outside every sandbox.
describe('the code that a start keeps compiled', () => {
  it('control: is kept in a directory of the user alone', async () => {
    const { folder, root } = createWorkspace()
    const caches = join(folder, 'caches')
    await startWith(caches, root)
    expect(compiledIn(join(caches, 'smithers/compiled')).length).toBeGreaterThan(10)
    expect(statSync(join(caches, 'smithers/compiled')).mode & 0o777).toBe(0o700)
  })

  it('is not kept beneath the root, also through a link', async () => {
    const { folder, root } = createWorkspace()
    mkdirSync(join(root, 'caches'))
    symlinkSync(join(root, 'caches'), join(folder, 'link'))
    await startWith(join(root, 'caches'), root)
    await startWith(join(folder, 'link'), root)
    expect(readdirSync(join(root, 'caches'))).toEqual([])
  })

  it('is not kept where the root lies among it', async () => {
    const { folder } = createWorkspace()
    const compiled = join(folder, 'caches/smithers/compiled')
    const root = join(compiled, 'root')
    mkdirSync(root, { recursive: true, mode: 0o700 })
    chmodSync(compiled, 0o700)
    await startWith(join(folder, 'caches'), root)
    expect(compiledIn(compiled)).toEqual([])
  })

  it.skipIf(process.platform === 'win32').each(['smithers', 'smithers/compiled'])(
    'is not kept where others can write to %s',
    async (name) => {
      const { folder, root } = createWorkspace()
      const caches = join(folder, 'caches')
      mkdirSync(join(caches, 'smithers/compiled'), { recursive: true, mode: 0o700 })
      chmodSync(join(caches, name), 0o777)
      await startWith(caches, root)
      expect(compiledIn(caches)).toEqual([])
    },
  )
})
