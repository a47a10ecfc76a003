import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTask } from '../fixtures/bash-task.ts'

describe('bash', () => {
  test.each(['none', 'auto'] as const)(
    'returns what the command printed, and nothing about how it was confined (isolation %s)',
    async (isolation) => {
      const { run, root } = createTask({ isolation })
      expect(await run({ cmd: 'echo', args: ['a  b', '$HOME'] })).toBe('a  b $HOME\n')
      expect(await run({ cmd: 'true' })).toBe('')
      expect(await run({ cmd: 'sh', args: ['-lc', 'echo one | tr a-z A-Z; pwd -P'] })).toBe(
        `ONE\n${root}\n`,
      )
      mkdirSync(join(root, 'sub'))
      expect(await run({ cmd: 'pwd', opts: { cwd: 'sub' } })).toBe(`${root}/sub\n`)
    },
  )

  test.runIf(process.platform === 'linux')(
    'returns the lines of both streams in the order in which they were printed',
    async () => {
      const { run } = createTask()
      const script = 'for i in 1 2 3; do echo out $i; echo err $i >&2; done'
      for (let round = 0; round < 10; round += 1) {
        expect(await run({ cmd: 'sh', args: ['-c', script] })).toBe(
          'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n',
        )
      }
    },
  )

  test('names no signal for a code that git returns for wrong usage', async () => {
    const { run, root } = createTask({ isolation: 'none' })
    execFileSync('git', ['init', '-q', root])
    await expect(run({ cmd: 'git', args: ['stash', '--no-such-option', 'x'] })).rejects.toThrow(
      /^"git" exited with code 129\. Output:\n/,
    )
  })

  test('distinguishes blank output from none', async () => {
    const { run } = createTask()
    await expect(run({ cmd: 'sh', args: ['-c', 'echo; exit 3'] })).rejects.toThrow(
      '"sh" exited with code 3. It printed only blanks.',
    )
    await expect(run({ cmd: 'false' })).rejects.toThrow('code 1. It printed nothing.')
  })

  test('explains a failure at a protected name', async () => {
    const { run, root } = createTask({ isolation: 'auto' })
    execFileSync('git', ['init', '-q', root])
    const failure = await run({ cmd: 'git', args: ['config', 'user.name', 'me'] }).catch(String)
    // Without isolation nothing stops it.
    if (failure === '') return
    expect(failure).toContain('Commands may read but not change ".git/config": protected names')
  })

  test('puts the exit code and the output into the message, the only part a model sees', async () => {
    const { run } = createTask()
    await expect(
      run({ cmd: 'sh', args: ['-c', 'echo out; echo why >&2; exit 7'] }),
    ).rejects.toThrow(/^"sh" exited with code 7\. Output:\n(out\nwhy|why\nout)\n$/)
    await expect(run({ cmd: 'false' })).rejects.toThrow(
      '"false" exited with code 1. It printed nothing.',
    )
    const failure = run({ cmd: 'sh', args: ['-c', 'kill -TERM $$'] })
    await expect(failure).rejects.toThrow('"sh" was ended by SIGTERM.')
    await expect(failure).rejects.toMatchObject({
      code: 'TOOL_COMMAND_FAILED',
      details: {
        status: 'killed',
        exitCode: null,
        signal: 'SIGTERM',
        enforced: { backend: 'none', network: 'policy-only' },
      },
    })
    await expect(run({ cmd: 'sh', args: ['-c', 'exit 137'] })).rejects.toThrow(
      'exited with code 137, as after SIGKILL.',
    )
  })

  test('keeps the beginning and the end of output over the limit, and never exceeds it', async () => {
    const { run } = createTask({ maxOutputBytes: 1000 })
    const script = 'i=0; while [ $i -lt 1000 ]; do echo "line $i é"; i=$((i+1)); done'
    const output = await run({ cmd: 'sh', args: ['-c', script] })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1000)
    expect(output).toMatch(/^line 0 é\n/)
    expect(output).toMatch(/line 999 é\n$/)
    expect(output).toMatch(/\[… \d+ bytes omitted …\]/)
    expect(output).not.toContain('\uFFFD')
    const exact = await run({ cmd: 'sh', args: ['-c', 'head -c 1000 /dev/zero | tr "\\0" x'] })
    expect(exact).toBe('x'.repeat(1000))
    // The end is what tells a failure, so it is in the message too.
    await expect(run({ cmd: 'sh', args: ['-c', `${script}; exit 1`] })).rejects.toThrow('line 999')
  })
})
