import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const examples = [...readme.matchAll(/<!-- file: (\S+) -->.*?It prints:\n\n```\n(.*?)\n```/gs)].map(
  ([, file = '', printed = '']) => [file, printed] as const,
)

describe('the README', () => {
  it('shows what more than one example prints', () => {
    expect(examples.length).toBeGreaterThan(1)
  })

  it.each(examples)('shows what %s prints', async (file, printed) => {
    const command = ['--conditions=@smithers/source', file]
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root })
    expect(stdout.trimEnd()).toBe(printed)
  })
})
