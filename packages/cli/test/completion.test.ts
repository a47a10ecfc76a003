import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'

describe('smithers completion', () => {
  test.for(['bash', 'zsh', 'fish'] as const)('prints a script for %s', async (shell) => {
    const { exitCode, stdout, stderr } = await runSmithers(['completion', shell])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('smithers')
    expect(stdout).toContain('complete')
    const found = await execa('which', [shell], { reject: false })
    if (found.exitCode !== 0) return
    // The shell can read it.
    const parsed = await execa(shell, ['-n'], { input: stdout, reject: false })
    expect([parsed.exitCode, parsed.stderr]).toEqual([0, ''])
  })

  test('completes commands and options', async () => {
    const commands = await runSmithers(['complete', '--', 'app'])
    expect(commands.stdout).toMatch(/^approvals\b/m)
    expect(commands.stdout).toMatch(/^approve\b/m)
    const options = await runSmithers(['complete', '--', 'calls', '--fol'])
    expect(options.stdout).toMatch(/^--follow\b/m)
  })

  test('refuses an unknown shell', async () => {
    const { exitCode, stderr } = await runSmithers(['completion', 'csh'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^smithers: .*'csh' is invalid/)
  })
})
