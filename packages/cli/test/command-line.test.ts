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

  test('prints on --help its commands, examples and the exit codes', async () => {
    const { exitCode, stdout } = await runSmithers(['--help'])
    expect(exitCode).toBe(0)
    for (const command of ['calls', 'show', 'runs', 'why', 'approvals', 'approve', 'doctor']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'))
    }
    expect(stdout).toContain('Examples:')
    expect(stdout).toMatch(/Exit codes: 0 done, 1 failed, 2 .*, 130 interrupted/)
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
