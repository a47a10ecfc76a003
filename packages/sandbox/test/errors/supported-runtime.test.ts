import { execa } from 'execa'
import { expect, test } from 'vitest'

/** Imports the package in a process whose versions name another runtime, and prints what came of it. */
async function importUnder(versions: object): Promise<string> {
  const program = `
    const versions = { ...process.versions, ...${JSON.stringify(versions)} }
    Object.defineProperty(process, 'versions', { value: versions })
    const { SandboxError } = await import('@smithers/sandbox').catch((error) => {
      console.log(error.name, error.code, error.effect, JSON.stringify(error.details), error.message)
      return {}
    })
    if (SandboxError) console.log('imported')`
  const { stdout } = await execa(
    process.execPath,
    ['--conditions=@smithers/source', '--input-type=module', '-e', program],
    { cwd: import.meta.dirname },
  )
  return stdout
}

test('the import is refused under a runtime that loses the output of commands', async () => {
  const bun = await importUnder({ bun: '1.4.5' })
  expect(bun).toContain('SandboxError RUNTIME_UNSUPPORTED none {"runtime":"bun","version":"1.4.5"}')
  expect(bun).toContain('do not run on Bun (this is Bun 1.4.5)')
  expect(bun).toContain('Node 22.18')
  expect(await importUnder({ deno: '2.9.6' })).toContain('do not run on Deno')
})

test('under Node the same import works', async () => {
  expect(await importUnder({})).toBe('imported')
})
