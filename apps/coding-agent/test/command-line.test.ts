import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { runSmithers } from './fixtures/smithers-process.ts'

describe('smithers', () => {
  test('prints its version', async () => {
    expect(await runSmithers(['--version'])).toMatchObject({
      exitCode: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    })
  })

  test('prints on --help what there is, examples and the exit codes', async () => {
    const { exitCode, stdout } = await runSmithers(['--help'])
    expect(exitCode).toBe(0)
    for (const command of ['run', 'demo', 'calls', 'show', 'doctor']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'))
    }
    expect(stdout).toContain('Examples:')
    expect(stdout).toMatch(/Exit codes: 0 done, 1 failed, 2 .*, 130 interrupted/)
  })

  test('prints the help of a command with its options and examples', async () => {
    const { exitCode, stdout } = await runSmithers(['run', '--help'])
    expect(exitCode).toBe(0)
    for (const option of [
      '--root',
      '--log',
      '--model',
      '--base-url',
      '--allow-network',
      '--json',
    ]) {
      expect(stdout).toContain(option)
    }
    expect(stdout).toContain('Examples:')
  })

  test('fails without a command and prints the help on stderr', async () => {
    const { exitCode, stdout, stderr } = await runSmithers([])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage: smithers')
  })
})
