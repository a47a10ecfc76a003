import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox, createSandboxFiles, SandboxError } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import { newRoot } from '../fixtures/sandboxes.ts'

const secret = 'TOKEN=1'

/** What a reader gets who was to be kept from `.env`, or the error that refused the options. */
async function secretThrough(
  open: (rootDir: string) => Promise<{ readText(path: string): Promise<string>; close(): void }>,
): Promise<string | SandboxError> {
  const rootDir = newRoot()
  writeFileSync(join(rootDir, '.env'), secret)
  try {
    const files = await open(rootDir)
    try {
      return await files.readText('.env')
    } finally {
      files.close()
    }
  } catch (error) {
    if (SandboxError.isInstance(error)) return error
    throw error
  }
}

const bySandbox = (options: object) =>
  secretThrough(async (rootDir) => {
    const sandbox = await createSandbox({ rootDir, isolation: 'none', ...options })
    return { readText: sandbox.files.readText, close: () => void sandbox.close() }
  })
const byFiles = (options: object) =>
  secretThrough(async (rootDir) => createSandboxFiles({ rootDir, ...options }))

class Rules {
  get files() {
    return { deny: ['.env'] }
  }
}

test('a rule in its place keeps the secret, and without one it is read', async () => {
  for (const reading of [bySandbox({}), byFiles({})]) expect(await reading).toBe(secret)
  const denied = expect.objectContaining({ code: 'TOOL_PATH_DENIED' })
  expect(await bySandbox({ files: { deny: ['.env'] } })).toEqual(denied)
  expect(await byFiles({ deny: ['.env'] })).toEqual(denied)
})

describe('a rule that is lost', () => {
  test.each<[string, object, string]>([
    ['on the wrong level', { deny: ['.env'] }, 'Unknown option "deny". Did you mean files.deny?'],
    [
      'misspelt',
      { files: { denied: ['.env'] } },
      'Unknown option "files.denied". Did you mean files.deny? The options of files are read, deny,',
    ],
    [
      'in other letters',
      { Files: { deny: ['.env'] } },
      'Unknown option "Files". Did you mean files?',
    ],
    ['as one glob', { files: { deny: '**' } }, 'files.deny is "**". Pass an array.'],
    [
      'with an item that is no glob',
      { files: { deny: ['a', /\.env/u] } },
      'files.deny[1] is an object. Pass a non-empty string',
    ],
    ['with a hole', { files: { deny: Array(1) } }, 'files.deny[0] is undefined'],
    ['as an empty glob', { files: { deny: [''] } }, 'files.deny[0] is "". Pass a non-empty string'],
    ['null', { files: null }, 'files is null. Pass a plain object.'],
    ['a list', { files: ['.env'] }, 'files is an array. Pass a plain object.'],
    [
      'from a prototype',
      { files: Object.create({ deny: ['.env'] }) as object },
      'files is an object. Pass a plain object.',
    ],
  ])('%s is refused by createSandbox', async (_, options, message) => {
    const result = await bySandbox(options)
    expect(result).toMatchObject({ code: 'INVALID_INPUT', effect: 'none' })
    expect(String(result)).toContain(message)
  })

  test.each<[string, object, string]>([
    [
      'in a group of the other function',
      { files: { deny: ['.env'] } },
      'Unknown option "files". Did you mean deny? The options are rootDir, deny,',
    ],
    ['misspelt', { denies: ['.env'] }, 'Unknown option "denies". Did you mean deny?'],
    ['as one glob', { deny: '**' }, 'deny is "**". Pass an array.'],
  ])('%s is refused by createSandboxFiles', async (_, options, message) => {
    const result = await byFiles(options)
    expect(result).toMatchObject({ code: 'INVALID_INPUT', effect: 'none' })
    expect(String(result)).toContain(message)
  })

  test('from a class is refused, since its getters could be overlooked', async () => {
    const options = Object.assign(new Rules(), { rootDir: newRoot() })
    await expect(createSandbox(options)).rejects.toThrow('Pass a plain object.')
  })
})

test('a rule cannot be taken out of the list afterwards, nor by a getter that answers differently', async () => {
  const deny = ['.env']
  expect(
    await secretThrough(async (rootDir) => {
      const files = createSandboxFiles({ rootDir, deny })
      deny.length = 0
      return files
    }),
  ).toMatchObject({ code: 'TOOL_PATH_DENIED' })
  let asked = 0
  const options = {
    get deny() {
      asked += 1
      return asked === 1 ? ['.env'] : []
    },
  }
  expect(
    await secretThrough(async (rootDir) =>
      createSandboxFiles(
        Object.defineProperty(options, 'rootDir', { value: rootDir, enumerable: true }) as never,
      ),
    ),
  ).toMatchObject({ code: 'TOOL_PATH_DENIED' })
})
