import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { describeWithServer } from './fixtures/cluster.ts'

const program = join(import.meta.dirname, '../demo/cluster.ts')

describeWithServer('the demo of a cluster', () => {
  test('with a killed worker and an approval while none lives, every run finishes and every payment is made once', async () => {
    const small = [
      '--workers',
      '2',
      '--runs',
      '5',
      '--charges',
      '2',
      '--answer',
      '200',
      '--kill-every',
      '300',
      '--kills',
      '2',
    ]
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      ...small,
    ])
    const table = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
    expect(table).toContainEqual([
      'workflow',
      'runs',
      'finished',
      'payments intended',
      'counted',
      'twice',
      'missing',
    ])
    expect(table).toContainEqual(['pay', '4', '4', '8', '8', '0', '0'])
    expect(table).toContainEqual(['pay-approved', '1', '1', '1', '1', '0', '0'])
    expect(stdout).toContain('No worker lives. Approved now: 1 payment.')
    expect(stdout).toContain('Every run has finished, and every payment was made once.')
  })
})
