import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('sandbox.run', (isolation, backend) => {
  test('returns what a command printed and how it ended', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'echo out; echo err >&2; exit 3'])
    expect(result).toMatchObject({
      status: 'exited',
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      omittedBytes: 0,
      violations: [],
    })
    expect(result.output.split('\n').toSorted()).toEqual(['', 'err', 'out'])
    expect(result).not.toHaveProperty('error')
    expect(result.durationMs).toBeGreaterThan(0)
  })

  test('leaves out a variable that is undefined', async () => {
    const sandbox = await newSandbox({ isolation, env: { set: { KEPT: 'yes' } } })
    const env = { GONE: undefined, KEPT: undefined, MORE: 'é' } as never
    const { stdout } = await sandbox.run('sh', ['-c', 'echo ${GONE-none} $KEPT $MORE'], { env })
    expect(stdout).toBe('none yes é\n')
  })

  test('starts in the root, or in cwd beneath it, and says so in PWD', async () => {
    const sandbox = await newSandbox({ isolation })
    mkdirSync(join(sandbox.rootDir, 'a/b'), { recursive: true })
    symlinkSync('a/b', join(sandbox.rootDir, 'link'))
    const where = async (cwd?: string) =>
      (await sandbox.run('sh', ['-c', 'pwd -P; echo "$PWD"'], { cwd })).stdout
    const inRoot = (path: string) => `${path}\n${path}\n`
    expect(await where()).toBe(inRoot(sandbox.rootDir))
    expect(await where('a')).toBe(inRoot(join(sandbox.rootDir, 'a')))
    expect(await where(join(sandbox.rootDir, 'a/b'))).toBe(inRoot(join(sandbox.rootDir, 'a/b')))
    expect(await where('link')).toBe(inRoot(join(sandbox.rootDir, 'a/b')))
  })

  test.each([
    [
      'nowhere',
      'spawn-error',
      'TOOL_SPAWN_FAILED',
      'The working directory "nowhere" does not exist',
    ],
    ['file', 'spawn-error', 'TOOL_SPAWN_FAILED', 'The working directory "file" is a file'],
    ['..', 'refused', 'TOOL_PATH_ESCAPE', 'The working directory ".." is outside the root'],
    ['/etc', 'refused', 'TOOL_PATH_ESCAPE', 'The working directory "/etc" is outside the root'],
    ['out', 'refused', 'TOOL_PATH_ESCAPE', 'The working directory "out" is outside the root'],
  ])('says what is wrong with the working directory %s', async (cwd, status, code, message) => {
    const sandbox = await newSandbox({ isolation })
    writeFileSync(join(sandbox.rootDir, 'file'), '')
    symlinkSync('/etc', join(sandbox.rootDir, 'out'))
    const result = await sandbox.run('sh', ['-c', 'echo ran > ran'], { cwd })
    expect(result).toMatchObject({ status, exitCode: null, error: { code } })
    expect(result.error?.message).toContain(message)
    expect(result.error?.message).not.toContain(sandbox.rootDir)
    expect(existsSync(join(sandbox.rootDir, 'ran'))).toBe(false)
  })

  test('says what is wrong with a command that cannot be started', async () => {
    const sandbox = await newSandbox({ isolation })
    writeFileSync(join(sandbox.rootDir, 'script.sh'), 'echo hi\n')
    const messageOf = async (command: string, args: string[] = []) => {
      const { status, error } = await sandbox.run(command, args)
      expect([status, error?.code]).toEqual(['spawn-error', 'TOOL_SPAWN_FAILED'])
      return error?.message
    }
    expect(await messageOf('no-such-program')).toBe(
      'Command not found: "no-such-program". Check the spelling, pass a path, or use another program.',
    )
    expect(await messageOf('echo hi')).toContain('use run("sh", ["-lc", "echo hi"]).')
    expect(await messageOf('a b', ['c'])).toContain('use run("sh", ["-lc", "a b c"]).')
    expect(await messageOf('./missing.sh')).toContain(
      'Command not found: "./missing.sh". Check the path',
    )
    expect(await messageOf('./script.sh')).toContain(
      '"./script.sh" is not an executable file. Run it through its interpreter, for example run("sh", ["./script.sh"])',
    )
    expect(await messageOf('./')).toContain('not an executable file')
  })

  test('runs a program of the workspace by its path, from the working directory', async () => {
    const sandbox = await newSandbox({ isolation })
    mkdirSync(join(sandbox.rootDir, 'bin'))
    writeFileSync(join(sandbox.rootDir, 'bin/hello'), '#!/bin/sh\necho hello "$1"\n')
    chmodSync(join(sandbox.rootDir, 'bin/hello'), 0o755)
    expect((await sandbox.run('./hello', ['x'], { cwd: 'bin' })).stdout).toBe('hello x\n')
    expect((await sandbox.run('bin/hello', ['y'])).stdout).toBe('hello y\n')
  })

  test('gives a command an empty input, or the one that was passed', async () => {
    const sandbox = await newSandbox({ isolation })
    const input = async function* () {
      yield Buffer.from('in ')
      yield Buffer.from('pieces')
    }
    expect((await sandbox.run('cat')).stdout).toBe('')
    expect((await sandbox.run('cat', [], { stdin: 'text é' })).stdout).toBe('text é')
    expect((await sandbox.run('cat', [], { stdin: Buffer.from('bytes') })).stdout).toBe('bytes')
    expect((await sandbox.run('cat', [], { stdin: input() })).stdout).toBe('in pieces')
    // A command that does not read it is no failure.
    expect((await sandbox.run('true', [], { stdin: 'x'.repeat(1_000_000) })).exitCode).toBe(0)
  })

  test('says with every result what was enforced', async () => {
    // The kernel counts the processes of ordinary users, and the helper sets the default.
    const countsProcesses = backend === 'namespaces' && process.geteuid?.() !== 0
    const sandbox = await newSandbox({ isolation })
    const { enforced } = await sandbox.run('true')
    expect(enforced).toEqual({
      backend: sandbox.report.backend,
      ...sandbox.report.enforced,
      limits: { memoryMb: 'watched', processes: countsProcesses ? 'enforced' : 'watched' },
    })
    expect(enforced.network).toBe(backend === 'none' ? 'policy-only' : 'enforced')
  })

  test('does the honest work of a small project', async () => {
    const rootDir = newRoot()
    const sandbox = await newSandbox({ isolation, rootDir, files: { protect: [] } })
    const run = async (command: string, ...args: string[]) => {
      const { exitCode, output, error } = await sandbox.run(command, args)
      expect([exitCode, error?.message, exitCode === 0 ? '' : output]).toEqual([0, undefined, ''])
      return output
    }
    mkdirSync(join(rootDir, 'bundle'))
    writeFileSync(join(rootDir, 'bundle/a.txt'), 'pippin\n')
    writeFileSync(
      join(rootDir, 'sum.test.mjs'),
      "import test from 'node:test'\nimport assert from 'node:assert'\ntest('sum', () => assert.equal(1 + 1, 2))\n",
    )
    await run('git', 'init', '-q')
    await run('git', 'config', 'user.email', 'x@example.com')
    await run('git', 'config', 'user.name', 'x')
    await run('git', 'add', '.')
    await run('git', 'commit', '-q', '-m', 'fetch upstream')
    expect(await run('git', 'log', '--oneline', '--grep=fetch')).toContain('fetch upstream')
    writeFileSync(join(rootDir, 'bundle/a.txt'), 'changed\n')
    await run('git', 'stash', 'push', '-q')
    expect(readFileSync(join(rootDir, 'bundle/a.txt'), 'utf8')).toBe('pippin\n')
    await run('git', 'stash', 'pop', '-q')
    expect(await run('ls', 'bundle')).toBe('a.txt\n')
    expect(await run('sh', '-lc', 'cat bundle/a.txt | tr a-z A-Z')).toBe('CHANGED\n')
    expect(await run('node', '--test')).toMatch(/pass 1/)
  })
})
