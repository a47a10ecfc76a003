import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('sandbox.run', (isolation) => {
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
})
