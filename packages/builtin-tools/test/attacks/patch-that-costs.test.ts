import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyPatchHunks, readPatch } from '../../src/patch/patch-text.ts'

const program = join(import.meta.dirname, '../fixtures/programs/parse-patch.ts')

/** In a process of its own, which is killed if it never comes back: a test cannot stop what holds up its own thread. */
function parse(patch: string): string {
  const options = {
    input: patch,
    timeout: 120_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  } as const
  return execFileSync(process.execPath, ['--conditions=@smithers/source', program], options)
}

const hunk = '@@ -1 +1 @@\n-a\n+b\n'
// Two million of them are hours to whatever begins anew at each, and nothing to what looks at each once.
const blanks = ' '.repeat(2_000_000)

describe('a patch crafted to be expensive', () => {
  it.each([
    ['the old name', `--- f${blanks}x\n+++ f\n${hunk}`],
    ['the new name', `--- f\n+++ f${blanks}x\n${hunk}`],
    ['an index', `Index: f${blanks}x\n--- f\n+++ f\n${hunk}`],
    [
      'the names for git',
      `diff --git a/f${blanks}x b/f${blanks}x\n--- a/f${blanks}x\n+++ b/f\n${hunk}`,
    ],
    ['an updated file', `*** Update File: f${blanks}x\n${hunk}`],
    ['dates', `--- f${' 2024-01-01'.repeat(200_000)}\n+++ f\n${hunk}`],
  ])('by blanks in %s is refused', (_, patch) => {
    expect(parse(patch)).toBe('TOOL_PATCH_FAILED')
  })

  it.each([
    ['a stray line', `--- f\n+++ f\n${hunk}\n${blanks}x\n`],
    ['a header without numbers', `--- f\n+++ f\n@@${blanks}x${blanks}@@${blanks}\n-a\n+b\n`],
    ['a fence', `\`\`\`diff${blanks}\n${hunk}\`\`\`${blanks}\n`],
    ['what looks like a fence', `\`\`\`${blanks}!\n${hunk}`],
    ['a hunk header', `--- f\n+++ f\n@@ -1 +1 @@${blanks}x\n-a\n+b\n`],
    ['a signature', `--- f\n+++ f\n${hunk}-- \n2.40${blanks}\n\n`],
    [
      'the end of a name',
      `--- f${blanks}\n+++ f${blanks}2024-01-01 00:00:00.123456789 +0100\n${hunk}`,
    ],
  ])('by blanks in %s is read', (_, patch) => {
    expect(parse(patch)).toBe('1 hunks')
  })

  it('by headers that quote lines is refused', async () => {
    const text = 'x y\n'.repeat(40_000)
    const anchors = '@@ nowhere\n'.repeat(15_000)
    const hunks = '@@ nowhere\n-x\n+y\n'.repeat(9_000)
    const target = { path: 'f', isNamedBy: async () => true }
    for (const patch of [`${anchors}-x y\n+z\n`, hunks]) {
      const read = await readPatch(patch, target)
      expect(() => applyPatchHunks(text, read, 'f')).toThrow(
        expect.objectContaining({ code: 'TOOL_PATCH_FAILED' }),
      )
    }
    const few = await readPatch('@@ x\n@@ x y\n-x y\n+z\n', target)
    expect(applyPatchHunks('x y\n', few, 'f')).toBe('z\n')
  })
})
