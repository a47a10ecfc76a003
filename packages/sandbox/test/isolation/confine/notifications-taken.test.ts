import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createLandlock } from '../../../src/isolation/confine/landlock.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-taken-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const { usable } = await createLandlock().probe()

const program = `
import { createSandbox } from '@smithers/sandbox'
const [rootDir, require] = process.argv.slice(1)
try {
  const isolation = { require: JSON.parse(require), backend: 'landlock' }
  const sandbox = await createSandbox({ rootDir, isolation, warn: () => {} })
  const { output } = await sandbox.run('python3', ['-c', 'import socket; socket.socket()'])
  console.log(JSON.stringify({ report: sandbox.report, output }))
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }))
}
`

interface Answer {
  readonly report?: { readonly enforced: object; readonly notEnforced: { code?: string }[] }
  readonly output?: string
  readonly code?: string
  readonly message?: string
}

/** Opens a sandbox in a process in which no supervisor can be handed calls. */
function withoutNotifications(require: readonly string[]): Answer {
  const wrapper = join(import.meta.dirname, '../../fixtures/programs/with-taken-notifications.py')
  const node = [
    process.execPath,
    '--conditions=@smithers/source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
  ]
  const { stdout } = spawnSync(
    '/usr/bin/python3',
    [wrapper, ...node, '-e', program, base, JSON.stringify(require)],
    // Where Node finds the package by its name.
    { encoding: 'utf8', cwd: import.meta.dirname },
  )
  return JSON.parse(stdout) as Answer
}

describe('Landlock where another filter has taken the notifications', () => {
  beforeEach(({ skip }) => {
    skip(!usable, 'Landlock does not work on this machine')
    skip(!existsSync('/usr/bin/python3'), 'python3 is not installed')
  })

  test('confines all the same, and says what cannot be judged', () => {
    const { report, output } = withoutNotifications(['network', 'kill', 'syscalls'])
    expect(report?.enforced).toEqual({
      files: 'partial',
      network: 'enforced',
      kill: 'enforced',
      syscalls: 'enforced',
    })
    expect(report?.notEnforced.map(({ code }) => code)).toContain('METADATA_CHANGEABLE')
    expect(output).toContain('PermissionError')
  })

  test('is not enough where the files must be enforced', () => {
    expect(withoutNotifications(['files'])).toMatchObject({
      code: 'TOOL_ISOLATION_UNAVAILABLE',
      message: expect.stringContaining('modes, owners and times'),
    })
  })
})
