import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

interface Opened {
  readonly descriptors: number
  readonly roots: number
  readonly directories: readonly string[]
}

interface Served {
  readonly right: number
  readonly before: Opened
  readonly after: Opened
}

/** Serves requests in a process that may have 256 descriptors open. */
function serve(requests: number, commands: number, how: 'closed' | 'forgotten' | 'kept'): Served {
  const program = join(import.meta.dirname, 'fixtures/programs/serve-requests.ts')
  const temporary = mkdtempSync(join(tmpdir(), 'requests-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const flags = '--conditions=@smithers/source --disable-warning=ExperimentalWarning --expose-gc'
  const { stdout, stderr } = spawnSync(
    'sh',
    [
      '-c',
      `ulimit -n 256; exec "$0" ${flags} "$@"`,
      process.execPath,
      program,
      String(requests),
      String(commands),
      how,
    ],
    { encoding: 'utf8', env: { ...process.env, TMPDIR: temporary } },
  )
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Served
}

describe.runIf(process.platform === 'linux')('requests with a bundle and a root each', () => {
  test('leave nothing open, 2 000 of them with 256 descriptors', () => {
    const { right, before, after } = serve(2_000, 20, 'closed')
    expect(right).toBe(2_000)
    expect(after.roots).toBe(0)
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
    expect([before.directories, after.directories]).toEqual([[], []])
  })

  test('leave nothing open either when nothing was closed, once they are collected as garbage', () => {
    const { right, before, after } = serve(60, 10, 'forgotten')
    expect(right).toBe(60)
    expect(after.roots).toBe(0)
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
    expect(after.directories).toEqual([])
  })

  test('keep roots open until they are collected: the control', () => {
    const { before, after } = serve(10, 10, 'kept')
    expect(after.descriptors).toBeGreaterThan(before.descriptors)
    expect(after.directories).not.toEqual([])
  })
})
