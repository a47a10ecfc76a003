import { createSandbox, type SandboxOptions } from '@smithers/sandbox'
import { flag, readOptions, sandboxOptions, text } from '@smithers/sandbox/options'
import { describe, expect, test } from 'vitest'
import { newRoot, newSandbox } from './fixtures/sandboxes.ts'

const wrong = (options: object): Promise<string> =>
  createSandbox({
    rootDir: newRoot(),
    isolation: 'none',
    ...(options as Partial<SandboxOptions>),
  }).then(
    () => 'accepted',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  )

describe('createSandbox', () => {
  test.each<[object, string]>([
    [{ timeoutMs: 5 }, 'Unknown option "timeoutMs". Did you mean limits.timeoutMs?'],
    [
      { limits: { timeoutMS: 5 } },
      'Unknown option "limits.timeoutMS". Did you mean limits.timeoutMs?',
    ],
    [
      { limits: { timeoutMs: '5' } },
      'limits.timeoutMs is "5". Pass a whole number of milliseconds from 1 to 3600000.',
    ],
    [{ allowNetwork: true }, 'Unknown option "allowNetwork". Did you mean network?'],
    [{ network: true }, "network is true. Pass 'none', 'host' or { allow: [...] }."],
    [{ network: { allow: 'example.com' } }, 'network.allow is "example.com". Pass an array.'],
    [{ network: { deny: [] } }, 'network.allow is undefined. Pass an array.'],
    [{ env: { set: { A: 1 } } }, 'env.set["A"] is 1, not a string.'],
    [{ env: { set: { 'A=B': 'x' } } }, 'env.set["A=B"] has a name that is empty or holds "="'],
    [{ env: { set: { A: '\ud800' } } }, 'env.set["A"] contains half of a Unicode character pair'],
    [{ env: { pass: 'HOME' } }, 'env.pass is "HOME". Pass an array.'],
    [{ env: { A: '1' } }, 'Unknown option "env.A". The options of env are pass, set.'],
    [
      { isolation: 'required' },
      "isolation is \"required\". Pass one of 'auto' or 'require' or 'none', or an object.",
    ],
    [{ isolation: { backend: 'bubblewrap' } }, 'isolation.require is undefined. Pass an array.'],
    [
      { isolation: { require: ['file'] } },
      "isolation.require[0] is \"file\". Pass 'files' or 'network'",
    ],
    [{ warn: 'yes' }, 'warn is "yes". Pass a function.'],
    [{ nonsense: 1 }, 'Unknown option "nonsense". The options are rootDir, files, network,'],
  ])('refuses %j', async (options, message) => {
    expect(await wrong(options)).toContain(`INVALID_INPUT: ${message}`)
  })

  test('never shows a value of the environment', async () => {
    expect(await wrong({ env: { set: { KEY: 'secret-\0' } } })).not.toContain('secret')
  })

  test('names every form of the network', async () => {
    expect(await wrong({ network: 'some' })).toContain("Pass 'none', 'host' or { allow: [...] }.")
  })

  test('refuses to be called without options', async () => {
    await expect(createSandbox(undefined as never)).rejects.toThrow(
      'The options argument is undefined. Pass a plain object.',
    )
    await expect(createSandbox({} as never)).rejects.toThrow('rootDir is undefined.')
  })

  test('ignores undefined options, and accepts options of another realm', async () => {
    const options = JSON.parse('{ "isolation": "none" }') as object
    expect(await wrong({ ...options, limits: undefined, warn: undefined })).toBe('accepted')
    expect(await wrong(Object.assign(Object.create(null) as object, options))).toBe('accepted')
  })

  test('passes variables on without those that are undefined', async () => {
    const set = { A: '1', B: undefined } as unknown as Record<string, string>
    const sandbox = await newSandbox({ isolation: 'none', env: { set } })
    expect((await sandbox.run('sh', ['-c', 'echo $A${B-unset}'])).stdout).toBe('1unset\n')
  })
})

describe('sandbox.run', () => {
  test.each<[object, string]>([
    [
      { timeout: 5 },
      'Unknown option "timeout". Did you mean timeoutMs? The options are timeoutMs,',
    ],
    [{ timeoutMS: 5 }, 'Unknown option "timeoutMS". Did you mean timeoutMs?'],
    [
      { maxOutputBytes: 0 },
      'maxOutputBytes is 0. Pass a whole number of bytes from 1 to 10485760.',
    ],
    [{ cwd: 5 }, 'cwd is 5. Pass a path.'],
    [{ stdin: 5 }, 'stdin is 5. Pass a string, a Uint8Array'],
    [{ stdin: 'half \ud83d' }, 'stdin contains half of a Unicode character pair.'],
    [{ signal: {} }, 'signal is an object. Pass an AbortSignal.'],
    [{ onOutput: 'x' }, 'onOutput is "x". Pass a function.'],
  ])('refuses %j and starts nothing', async (options, message) => {
    const sandbox = await newSandbox({ isolation: 'none' })
    await expect(sandbox.run('touch', ['started'], options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      effect: 'none',
      message: expect.stringContaining(message),
    })
    expect(await sandbox.files.exists('started')).toBe(false)
  })
})

describe('readOptions', () => {
  const fields = { ...sandboxOptions, rootDir: text, verbose: flag }

  test('reads options of a caller beside those of the sandbox, frozen to the last list', () => {
    const given = { verbose: true, files: { deny: ['a'] } }
    const read = readOptions<Partial<SandboxOptions> & { verbose?: boolean }>(given, fields)
    expect(read).toEqual(given)
    expect([read, read.files, read.files?.deny].map(Object.isFrozen)).toEqual([true, true, true])
  })

  test('names the nearest option of both', () => {
    expect(() => readOptions<object>({ verbos: true }, fields as never)).toThrow(
      'Unknown option "verbos". Did you mean verbose?',
    )
    expect(() => readOptions<object>({ deny: [] }, fields as never)).toThrow('files.deny?')
  })
})
