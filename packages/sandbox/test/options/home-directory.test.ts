import { homedir } from 'node:os'
import { expect, test, vi } from 'vitest'
import { createSandbox } from '@smithers/sandbox'
import { newRoot } from '../fixtures/sandboxes.ts'

const system = vi.hoisted(() => ({ hasHome: true }))

vi.mock('node:os', async (load) => {
  const actual = await load<typeof import('node:os')>()
  return {
    ...actual,
    homedir: () => {
      if (system.hasHome) return actual.homedir()
      throw new Error('uv_os_homedir returned ENOENT')
    },
  }
})

async function backendHere(hasHome: boolean): Promise<string> {
  vi.resetModules()
  system.hasHome = hasHome
  const { createSandbox: create }: { createSandbox: typeof createSandbox } =
    await import('@smithers/sandbox')
  const sandbox = await create({ rootDir: newRoot(), warn: () => {} })
  try {
    expect((await sandbox.run('echo', ['ran'])).output).toBe('ran\n')
    return sandbox.report.backend
  } finally {
    await sandbox.close()
  }
}

test('a user without a home gets the same isolation as others', async () => {
  const backend = await backendHere(true)
  expect(await backendHere(false)).toBe(backend)
  // The control: the system does not answer.
  expect(() => homedir()).toThrow('ENOENT')
})
