import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox, SandboxError } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import { code } from './fixtures/error-code.ts'
import { newRoot, newSandbox } from './fixtures/sandboxes.ts'

describe('createSandbox', () => {
  test('resolves the root once, links in it included', async () => {
    const root = newRoot()
    mkdirSync(join(root, 'real'))
    symlinkSync('real', join(root, 'link'))
    const sandbox = await newSandbox({ rootDir: join(root, 'link') })
    expect(sandbox.rootDir).toBe(join(root, 'real'))
    expect(sandbox.report.guard).toBe(process.platform === 'linux' ? 'beneath' : 'checked')
  })

  test('takes absolute paths that spell the root as it was given', async () => {
    const root = newRoot()
    mkdirSync(join(root, 'real/sub'), { recursive: true })
    symlinkSync('real', join(root, 'link'))
    writeFileSync(join(root, 'real/sub/f'), 'text')
    const sandbox = await newSandbox({ rootDir: join(root, 'link'), isolation: 'none' })
    for (const spelling of ['link', 'real']) {
      expect(await sandbox.files.readText(join(root, spelling, 'sub/f'))).toBe('text')
      const { stdout } = await sandbox.run('cat', ['f'], { cwd: join(root, spelling, 'sub') })
      expect(stdout).toBe('text')
    }
    await expect(sandbox.files.readText(join(root, 'link-not/f'))).rejects.toThrow(
      code('TOOL_PATH_ESCAPE'),
    )
  })

  test('refuses a root that is missing, a file or no path', async () => {
    const root = newRoot()
    writeFileSync(join(root, 'file'), '')
    for (const rootDir of [join(root, 'nowhere'), join(root, 'file'), '']) {
      await expect(createSandbox({ rootDir })).rejects.toThrow(code('INVALID_INPUT'))
    }
  })

  test('refuses values that no option has, and names the ones that it has', async () => {
    const rootDir = newRoot()
    await expect(createSandbox({ rootDir, network: 'some' as never })).rejects.toThrow(
      "Pass 'none', 'host' or { allow: [...] }.",
    )
    await expect(createSandbox({ rootDir, commands: 'lax' as never })).rejects.toThrow(
      "Pass 'auto', 'basic', 'strict', 'off' or a function",
    )
    await expect(createSandbox({ rootDir, isolation: 'some' as never })).rejects.toThrow(
      code('INVALID_INPUT'),
    )
    await expect(createSandbox({ rootDir, limits: { timeoutMs: 0 } })).rejects.toThrow(
      'timeoutMs is 0. Pass a whole number of milliseconds from 1 to 3600000.',
    )
  })

  test('refuses a list of hosts where it cannot be enforced, rather than opening all of them', async () => {
    const failure = createSandbox({
      rootDir: newRoot(),
      isolation: 'none',
      network: { allow: ['example.com:443'] },
    })
    await expect(failure).rejects.toThrow(code('TOOL_ISOLATION_UNAVAILABLE'))
    await expect(failure).rejects.toSatisfy(SandboxError.isInstance)
  })

  test("takes commands: 'off' only where the system keeps commands off the network", async () => {
    await expect(newSandbox({ isolation: 'none', commands: 'off' })).rejects.toThrow(
      code('TOOL_ISOLATION_UNAVAILABLE'),
    )
    const { report } = await newSandbox()
    if (report.enforced.network === 'enforced') {
      const sandbox = await newSandbox({ commands: 'off' })
      expect((await sandbox.run('curl', ['--version'])).status).not.toBe('refused')
    }
    await expect(
      newSandbox({ isolation: 'none', commands: 'off', network: 'host' }),
    ).resolves.toBeDefined()
  })

  test('reports the network that was asked for and how far it holds', async () => {
    expect((await newSandbox({ isolation: 'none' })).report).toMatchObject({
      backend: 'none',
      network: 'none',
      enforced: { network: 'policy-only', kill: 'best-effort' },
    })
    expect((await newSandbox({ isolation: 'none', network: 'host' })).report).toMatchObject({
      network: 'host',
      enforced: { network: 'host' },
    })
  })

  test('asks a check of its own about argv, also with the network open', async () => {
    const asked: (readonly string[])[] = []
    const sandbox = await newSandbox({
      isolation: 'none',
      network: 'host',
      commands: (argv) => {
        asked.push(argv)
        return argv.includes('--force')
          ? {
              code: 'TOOL_GIT_REMOTE_DISABLED',
              rule: 'force',
              token: '--force',
              reason: 'force is not wanted',
            }
          : null
      },
    })
    expect(await sandbox.run('git', ['push', '--force'])).toMatchObject({
      status: 'refused',
      error: { code: 'TOOL_GIT_REMOTE_DISABLED', details: { rule: 'force' }, effect: 'none' },
    })
    expect((await sandbox.run('true')).status).toBe('exited')
    expect(asked).toEqual([['git', 'push', '--force'], ['true']])
  })
})

describe('sandbox.explain', () => {
  test('answers about commands as run would', async () => {
    const sandbox = await newSandbox({ isolation: 'none' })
    expect(
      await sandbox.explain({ type: 'run', command: 'git', args: ['-C', 'x', 'push'] }),
    ).toEqual({
      allowed: false,
      code: 'TOOL_GIT_REMOTE_DISABLED',
      option: 'network',
      reason:
        'Refused by the rule "git-remote": "git push" talks to another repository, and network access is off.',
    })
    expect(await sandbox.explain({ type: 'run', command: 'ls', args: ['bundle'] })).toMatchObject({
      allowed: true,
      reason: expect.stringContaining('only this check'),
    })
  })

  test('answers about files as their methods would, and changes nothing', async () => {
    const sandbox = await newSandbox({ isolation: 'none', files: { deny: ['**/.env'] } })
    symlinkSync('/etc', join(sandbox.rootDir, 'out'))
    writeFileSync(join(sandbox.rootDir, '.env'), '')
    mkdirSync(join(sandbox.rootDir, 'git'))
    symlinkSync('git', join(sandbox.rootDir, '.git'))
    const ask = async (type: 'read' | 'write', path: string) => {
      const { allowed, code: reason, option } = await sandbox.explain({ type, path })
      return allowed ? true : [reason, option]
    }
    expect(await ask('write', 'new/deep/file')).toBe(true)
    expect(await ask('read', 'new/deep/file')).toEqual(['TOOL_FILE_NOT_FOUND', undefined])
    expect(await ask('read', 'out/passwd')).toEqual(['TOOL_PATH_ESCAPE', undefined])
    expect(await ask('write', '../x')).toEqual(['TOOL_PATH_ESCAPE', undefined])
    expect(await ask('read', '.env')).toEqual(['TOOL_PATH_DENIED', 'files.deny'])
    expect(await ask('read', '.bashrc')).toEqual(['TOOL_FILE_NOT_FOUND', undefined])
    expect(await ask('write', '.bashrc')).toEqual(['TOOL_PATH_DENIED', 'files.protect'])
    expect(await ask('write', '.github/workflows/x.yml')).toEqual([
      'TOOL_PATH_DENIED',
      'files.protect',
    ])
    expect(await sandbox.files.exists('new')).toBe(false)
  })

  test('answers as the methods do, for any object at a path', async () => {
    const sandbox = await newSandbox({ isolation: 'none', files: { deny: ['**/.env'] } })
    const at = (name: string): string => join(sandbox.rootDir, name)
    writeFileSync(at('file'), '')
    writeFileSync(at('linked'), '')
    linkSync(at('linked'), at('other-name'))
    mkdirSync(at('directory'))
    execFileSync('mkfifo', [at('pipe')])
    symlinkSync('nowhere/file', at('broken'))
    symlinkSync('.', at('round'))
    const paths = [
      'file',
      'linked',
      'directory',
      'directory/',
      'pipe',
      'broken',
      'round/file',
      'file/x',
      '.',
      '',
    ].concat([
      '.git',
      'HEAD',
      '.git/config',
      '.git/hooks/x',
      'sub/.env',
      'sub/.env/x',
      'a'.repeat(300),
      'x\0',
    ])
    // Does not follow links, as a recursive readdirSync does.
    const tree = (): string => execFileSync('find', [sandbox.rootDir], { encoding: 'utf8' })
    for (const path of paths) {
      const before = tree()
      const reading = await sandbox.explain({ type: 'read', path })
      const writing = await sandbox.explain({ type: 'write', path })
      expect(tree(), path).toBe(before)
      const outcome = async (work: Promise<unknown>): Promise<string | undefined> =>
        work.then(
          () => undefined,
          (error: unknown) => (SandboxError.isInstance(error) ? error.code : String(error)),
        )
      expect(reading.code, `read ${path}`).toBe(await outcome(sandbox.files.read(path)))
      expect(writing.code, `write ${path}`).toBe(await outcome(sandbox.files.write(path, '')))
      expect([reading.allowed, writing.allowed], path).toEqual([
        reading.code === undefined,
        writing.code === undefined,
      ])
      await sandbox.files.remove('nowhere', { recursive: true })
    }
    expect(await sandbox.explain({ type: 'write', path: 'linked' })).toMatchObject({
      code: 'TOOL_PATH_DENIED',
      option: 'files.maxLinks',
    })
  })
})
