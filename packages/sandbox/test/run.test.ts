import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { livingProcesses } from './fixtures/living-processes.ts'
import { describeIsolations, newRoot, newSandbox } from './fixtures/sandboxes.ts'

const programs = join(import.meta.dirname, 'fixtures/programs')

describeIsolations('sandbox.run', (isolation) => {
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

  test('hands arguments over as they are: nothing is expanded, split or quoted', async () => {
    const sandbox = await newSandbox({ isolation })
    const args = ['', ' ', '*', '$HOME', '`id`', 'a b', '"', "'", '\\', '-n', '--', 'é😀', '\n']
    const { stdout } = await sandbox.run('node', [
      '-e',
      'process.stdout.write(JSON.stringify(process.argv.slice(1)))',
      '--',
      ...args,
    ])
    expect(JSON.parse(stdout)).toEqual(args)
  })

  test.each([
    ['signal', { signal: {} }],
    ['stdin', { stdin: 5 }],
    ['stdin', { stdin: null }],
    ['onOutput', { onOutput: 'print' }],
    ['env["A"]', { env: { A: 5 } }],
    ['env["A"]', { env: { A: 'x\0y' } }],
    ['env["A"]', { env: { A: '\ud800' } }],
    ['env["A=B"]', { env: { 'A=B': 'x' } }],
    ['env[""]', { env: { '': 'x' } }],
  ])('starts nothing with an option %s that no process can have', async (option, options) => {
    const sandbox = await newSandbox({ isolation })
    const failure = sandbox.run('touch', ['made'], options as never)
    await expect(failure).rejects.toMatchObject({ code: 'INVALID_INPUT', effect: 'none' })
    await expect(failure).rejects.toMatchObject({ details: { option } })
    expect(existsSync(join(sandbox.rootDir, 'made'))).toBe(false)
  })

  test('starts nothing with arguments that would arrive as others', async () => {
    const sandbox = await newSandbox({ isolation })
    for (const args of [['made', '\ud83d'], 'made']) {
      const failure = sandbox.run('touch', args as never)
      await expect(failure).rejects.toMatchObject({ code: 'INVALID_INPUT', effect: 'none' })
    }
    expect(existsSync(join(sandbox.rootDir, 'made'))).toBe(false)
    expect(existsSync(join(sandbox.rootDir, 'm'))).toBe(false)
  })

  test('leaves out a variable that is undefined', async () => {
    const sandbox = await newSandbox({ isolation, env: { set: { KEPT: 'yes' } } })
    const env = { GONE: undefined, KEPT: undefined, MORE: 'é' } as never
    const { stdout } = await sandbox.run('sh', ['-c', 'echo ${GONE-none} $KEPT $MORE'], { env })
    expect(stdout).toBe('none yes é\n')
  })

  test.runIf(process.platform === 'linux')(
    'leaves no process behind when an object of the caller throws',
    async () => {
      const sandbox = await newSandbox({ isolation })
      const signal = {
        aborted: false,
        addEventListener: () => {
          throw new Error('no listeners here')
        },
      }
      const mark = `left-${process.pid}-${isolation}`
      const failure = sandbox.run('sh', ['-c', 'sleep 60', mark], { signal: signal as never })
      await expect(failure).rejects.toThrow('no listeners here')
      expect(livingProcesses(mark)).toEqual([])
    },
  )

  test('keeps the order of lines that the two streams print one after the other', async () => {
    const sandbox = await newSandbox({ isolation, files: { read: [programs] } })
    const { output } = await sandbox.run('node', [join(programs, 'interleave.mjs')])
    expect(output).toBe('line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n')
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
      'Command not found: "no-such-program". Check the spelling, install it, or pass a path.',
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

  test('kills a command at its timeout and keeps what it had printed', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'echo before; exec sleep 86400'], {
      timeoutMs: 1000,
    })
    expect(result).toMatchObject({
      status: 'timeout',
      exitCode: null,
      stdout: 'before\n',
      error: { code: 'TOOL_TIMEOUT', effect: 'unknown' },
    })
    expect(result.error?.message).toContain('"sh" was still running after 1000 ms')
  })

  test('ends endless output at the timeout', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('yes', [], { timeoutMs: 500, maxOutputBytes: 1000 })
    expect(result.status).toBe('timeout')
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(1000)
    expect(result.omittedBytes).toBeGreaterThan(100_000)
  })

  test('kills a command when its signal aborts', async () => {
    const sandbox = await newSandbox({ isolation })
    const abort = new AbortController()
    const result = await sandbox.run('sh', ['-c', 'echo started; exec sleep 86400'], {
      signal: abort.signal,
      onOutput: () => abort.abort(new Error('enough')),
    })
    expect(result).toMatchObject({ status: 'aborted', error: { code: 'TOOL_ABORTED' } })
    expect(result.error?.cause).toEqual(new Error('enough'))
  })

  test('starts nothing when the signal has aborted before', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'echo ran > ran'], {
      signal: AbortSignal.abort(),
    })
    expect(result).toMatchObject({
      status: 'aborted',
      durationMs: 0,
      error: { code: 'TOOL_ABORTED', effect: 'none' },
    })
    expect(existsSync(join(sandbox.rootDir, 'ran'))).toBe(false)
  })

  test('returns when the command exits, also when a child it left holds the pipe', async () => {
    const sandbox = await newSandbox({ isolation })
    const result = await sandbox.run('sh', ['-c', 'sleep 86400 & setsid sleep 86400 & echo done'])
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'done\n' })
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

  test('holds the command back while onOutput is busy', async () => {
    const sandbox = await newSandbox({ isolation })
    const script = `
      const { writeSync } = require('node:fs')
      const block = Buffer.alloc(65536)
      for (let n = 0; n < 64; n++) { writeSync(1, block); writeSync(2, String(n) + ' ') }`
    let written = 0
    let free = (): void => {}
    const freed = new Promise<void>((resolve) => {
      free = resolve
    })
    const running = sandbox.run('node', ['-e', script], {
      onOutput: ({ stream, bytes }) => {
        if (stream === 'stdout') return freed
        written = Number(Buffer.from(bytes).toString().trim().split(' ').at(-1))
        return undefined
      },
    })
    // The program gets as far as the pipe's buffers allow, and then no further.
    await expect.poll(() => written).toBeGreaterThan(0)
    let before = -1
    await expect
      .poll(() => [before, (before = written)].every((n) => n === written), { interval: 200 })
      .toBe(true)
    expect(written).toBeLessThan(40)
    free()
    expect(await running).toMatchObject({ exitCode: 0, output: expect.stringMatching(/omitted/) })
  })

  test('kills the command and rejects with what onOutput threw', async () => {
    const sandbox = await newSandbox({ isolation })
    const failure = new Error('consumer')
    for (const onOutput of [
      () => Promise.reject(failure),
      () => {
        throw failure
      },
    ]) {
      await expect(
        sandbox.run('sh', ['-c', 'echo x; exec sleep 86400'], { onOutput }),
      ).rejects.toBe(failure)
    }
  })

  test('runs 64 commands at once, each with its own output', async () => {
    const sandbox = await newSandbox({ isolation })
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, n) => sandbox.run('sh', ['-c', `echo ${n}; echo e${n} >&2`])),
    )
    expect(results.map(({ status, stdout, stderr }) => [status, stdout, stderr])).toEqual(
      results.map((_, n) => ['exited', `${n}\n`, `e${n}\n`]),
    )
  })

  test('says with every result what was enforced', async () => {
    const sandbox = await newSandbox({ isolation })
    const { enforced } = await sandbox.run('true')
    expect(enforced).toEqual({
      backend: sandbox.report.backend,
      ...sandbox.report.enforced,
      limits: {},
    })
    expect(enforced.network).toBe(isolation === 'none' ? 'policy-only' : 'enforced')
  })

  test.each([
    ['command', '', []],
    ['command', 'a\0b', []],
    ['args[0]', 'true', ['a\0b']],
    ['args[1]', 'true', ['a', 7 as unknown as string]],
  ])('refuses what cannot be an argument: %s', async (name, command, args) => {
    const sandbox = await newSandbox({ isolation })
    await expect(sandbox.run(command, args)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(name),
    })
  })

  test('explains arguments that are longer than the operating system takes', async () => {
    const sandbox = await newSandbox({ isolation })
    const { status, error } = await sandbox.run('true', ['x'.repeat(3_000_000)])
    expect(status).toBe('spawn-error')
    expect(error?.message).toContain('Put the data into a file')
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
