import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const program = join(import.meta.dirname, '../fixtures/programs/replace-text.ts')

/** In a process of its own, which is killed if it never comes back: a test cannot stop what holds up its own thread. */
function replaced(kind: string): string {
  const options = { timeout: 120_000, killSignal: 'SIGKILL', encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['--conditions=@smithers/source', program, kind], options)
}

describe('a replacement crafted to be expensive', () => {
  it('by a long text that is missing in a file of many lines is refused', () => {
    expect(replaced('missing')).toContain('no line resembles its first one')
  })

  it('by occurrences that overlap is refused', () => {
    expect(replaced('overlapping')).toContain('occurs more than 100 times')
  })

  it('is one that an honest call of the same size is not', () => {
    expect(replaced('honest')).toBe('line 1500000')
  })
})
