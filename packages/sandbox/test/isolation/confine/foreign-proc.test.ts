import { spawnSync } from 'node:child_process'
import { beforeEach, describe, expect, test } from 'vitest'

const program = `
import { createLandlock } from './landlock.ts'
const { usable, notEnforced } = await createLandlock().probe()
console.log(JSON.stringify({ usable, why: notEnforced[0]?.why, fix: notEnforced[0]?.fix }))
process.exit()
`

/** Probes Landlock in a shell of new namespaces. */
function probeIn(namespaces: readonly string[], script: string): unknown {
  const { stdout } = spawnSync(
    'unshare',
    [
      ...namespaces,
      'sh',
      '-c',
      `${script} "$0" --input-type=module -e "$1"`,
      process.execPath,
      program,
    ],
    { encoding: 'utf8', cwd: `${import.meta.dirname}/../../../src/isolation/confine` },
  )
  return JSON.parse(stdout)
}

describe('Landlock without a /proc of its own process namespace', () => {
  beforeEach(({ skip }) => {
    skip(process.platform !== 'linux' || process.geteuid?.() !== 0, 'only root can arrange it')
  })

  test.each([
    ['that belongs to another namespace', ['--pid', '--fork'], 'exec'],
    ['that is missing', ['--mount'], 'mount -t tmpfs none /proc && exec'],
  ])('says what to do about one %s, and starts nothing', (_, namespaces, script) => {
    expect(probeIn(namespaces, script)).toEqual({
      usable: false,
      why: expect.stringContaining('/proc is missing or belongs to another process namespace'),
      fix: expect.stringContaining('mount -t proc'),
    })
  })

  test('works where that namespace has its own', () => {
    expect(probeIn(['--pid', '--fork', '--mount-proc'], 'exec')).toMatchObject({ usable: true })
  })
})
