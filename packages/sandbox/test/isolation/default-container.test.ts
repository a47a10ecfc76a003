import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { FilterArchitecture } from '../../src/isolation/bubblewrap/seccomp-table.ts'
import { createLandlock } from '../../src/isolation/confine/landlock.ts'
import { containerFilter } from '../fixtures/default-container.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-container-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const isLinux = process.platform === 'linux'
const filter = join(base, 'filter')
if (isLinux) writeFileSync(filter, containerFilter(process.arch as FilterArchitecture))
const { usable } = await createLandlock().probe()

/** Runs a program as in a default container; this machine's own limits come on top. */
function inContainer(...argv: readonly string[]): { stdout: string; stderr: string } {
  const program = join(import.meta.dirname, '../fixtures/programs/in-default-container.py')
  return spawnSync('/usr/bin/python3', [program, filter, ...argv], {
    encoding: 'utf8',
    // Where Node finds the package by its name.
    cwd: import.meta.dirname,
  })
}

const program = `
import { createSandbox } from '@smithers/sandbox'
const [rootDir, script, isolation] = process.argv.slice(1)
const sandbox = await createSandbox({ rootDir, isolation: JSON.parse(isolation), warn: () => {} })
const { output, violations } = await sandbox.run('sh', ['-c', script])
console.log(JSON.stringify({ report: sandbox.report, output, violations }))
`

function sandboxInContainer(rootDir: string, script: string, isolation: unknown = 'auto') {
  const args = ['--conditions=@smithers/source', '--input-type=module', '-e', program]
  return inContainer(
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...args,
    rootDir,
    script,
    JSON.stringify(isolation),
  )
}

function newRoot(): string {
  const root = mkdtempSync(join(base, 'root-'))
  mkdirSync(`${root}-outside`)
  writeFileSync(`${root}-outside/secret`, 'the secret')
  return root
}

describe.skipIf(!isLinux)('a sandbox in a default container', () => {
  beforeEach(({ skip }) => {
    skip(!usable, 'Landlock does not work on this machine')
    skip(!existsSync('/usr/bin/python3'), 'python3 is not installed')
  })

  test('gets no namespaces there: the profile is real', () => {
    const { stderr } = inContainer('/usr/bin/unshare', '--user', 'true')
    expect(stderr).toMatch(/Operation not permitted/)
    expect(spawnSync('/usr/bin/python3', ['-c', 'print(1)'], { encoding: 'utf8' }).stdout).toBe(
      '1\n',
    )
  })

  test('confines by Landlock, with calls judged, and says what would give more', () => {
    const { stdout, stderr } = sandboxInContainer(newRoot(), 'true')
    expect(stderr).toBe('')
    const { report } = JSON.parse(stdout) as { report: { notEnforced: { fix: string }[] } }
    expect(report).toMatchObject({
      backend: 'landlock',
      enforced: { files: 'enforced', network: 'enforced', kill: 'enforced', syscalls: 'enforced' },
    })
    expect(report.notEnforced.map(({ fix }) => fix).join(' ')).toMatch(
      /seccomp profile that allows/,
    )
  })

  test('lets a command reach its root and nothing beside it', () => {
    const root = newRoot()
    const outside = `${root}-outside`
    const attacks = [
      `cat ${outside}/secret`,
      `echo x > ${outside}/new`,
      `chmod 777 ${outside}/secret`,
      'kill -0 $PPID',
      'python3 -c "import socket; socket.socket()"',
    ]
    const script = `${attacks.map((attack) => `if ${attack}; then echo WORKED; fi`).join('; ')}; echo inside > file; chmod 600 file; cat file`
    const { stdout } = sandboxInContainer(root, script)
    const { output } = JSON.parse(stdout) as { output: string }
    expect(output).toContain('inside')
    expect(output).not.toMatch(/WORKED|the secret/)
    expect(existsSync(`${outside}/new`)).toBe(false)
    const control = sandboxInContainer(root, script, 'none')
    expect((JSON.parse(control.stdout) as { output: string }).output).toMatch(
      /the secret[^]*WORKED/,
    )
    expect(readFileSync(`${outside}/new`, 'utf8')).toBe('x\n')
  })
})
