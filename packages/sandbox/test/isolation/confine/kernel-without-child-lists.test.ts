import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createLandlock } from '../../../src/isolation/confine/landlock.ts'
import { livingProcesses } from '../../fixtures/living-processes.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-lists-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const { usable } = await createLandlock().probe()

/** Runs a program where the children of a process are not listed. */
function withoutLists(...argv: readonly string[]): { stdout: string; stderr: string } {
  const program = join(import.meta.dirname, '../../fixtures/programs/without-child-lists.py')
  return spawnSync('unshare', ['--mount', '/usr/bin/python3', program, ...argv], {
    encoding: 'utf8',
    // Where Node finds the package by its name.
    cwd: import.meta.dirname,
  })
}

const program = `
import { createSandbox } from '@smithers/sandbox'
const [rootDir, script] = process.argv.slice(1)
const isolation = { require: ['kill'], backend: 'landlock' }
const sandbox = await createSandbox({ rootDir, isolation, warn: () => {} })
const { output } = await sandbox.run('sh', ['-c', script])
console.log(JSON.stringify({ enforced: sandbox.report.enforced, output }))
`

describe('a kernel that does not list the children of a process', () => {
  beforeEach(({ skip }) => {
    skip(!usable, 'Landlock does not work on this machine')
    skip(process.geteuid?.() !== 0, 'only root can cover the lists')
    skip(!existsSync('/usr/bin/python3'), 'python3 is not installed')
    skip(withoutLists('true').stderr !== '', 'this kernel does not let the lists be covered')
  })

  test('is what the tests below run on', () => {
    expect(withoutLists('cat', '/proc/thread-self/children').stderr).toContain('Not a directory')
  })

  test('lets no process outlive its command: every process names its parent', () => {
    // `sleep` accepts fractions: a number that no other process has on its command line.
    const marker = `7103.${process.pid.toString().padStart(7, '0')}`
    const leave = `sleep ${marker} & (setsid sleep ${marker} &); env -i setsid sh -c '/usr/bin/sleep ${marker} & /usr/bin/sleep ${marker}' & echo left`
    const { stdout, stderr } = withoutLists(
      process.execPath,
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '-e',
      program,
      base,
      leave,
    )
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ enforced: { kill: 'enforced' }, output: 'left\n' })
    expect(livingProcesses(marker)).toEqual([])
  })
})
