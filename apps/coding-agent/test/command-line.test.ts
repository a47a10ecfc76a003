import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers, smithersCommand } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

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

  test('ends quietly when its reader goes away, as head does', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    const input = { text: 'x'.repeat(2000) }
    await writeSampleLog(
      path,
      Array.from({ length: 300 }, (_, index) => ({ seq: index + 1, toolName: 'read', input })),
    )
    const piped = '{ "$@"; echo "exit $?" >&2; } | head -c 20'
    const command = [...smithersCommand, 'calls', '--log', path, '--json', '--limit', '300']
    const { stdout, stderr } = await execa('sh', ['-c', piped, 'sh', ...command])
    expect(stdout).toHaveLength(20)
    expect(stderr).toBe('exit 0')
  })
})
