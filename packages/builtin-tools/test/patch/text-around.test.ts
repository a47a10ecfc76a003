import { structuredPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatchHunks, readPatch } from '../../src/patch/patch-text.ts'
import type { PatchTarget } from '../../src/patch/patch-target.ts'

const target: PatchTarget = { path: 'f', isNamedBy: async (name) => /^(?:[ab]\/)?f$/u.test(name) }

/** Lines as answers have them around and between the parts of a patch. */
const noise = fc.constantFrom(
  '',
  '',
  '```',
  '```diff',
  '```sh',
  ' ```',
  '~~~',
  'Then this:',
  '- I change a line.',
  '---',
  '--- a/f\n+++ b/f',
  '*** Begin Patch',
  '*** Update File: f',
  '*** End Patch',
  '@@',
  '@@ @@',
  '-- ',
)

const headers: readonly ((header: string) => readonly string[])[] = [
  (header) => [header],
  () => ['@@'],
  // Its counts are wrong.
  (header) => [header.replace(/ \+(\d+)(?:,\d+)? /u, ' +$1,90 ')],
  () => [''],
  () => [],
]

const unusual = ['```', '```sh', '~~~', '', '---', '- item', '+ item', '-- comment', '}']

const patches = fc.record({
  size: fc.integer({ min: 6, max: 40 }),
  repeated: fc.array(fc.record({ at: fc.nat(39), line: fc.constantFrom(...unusual) }), {
    maxLength: 10,
  }),
  changed: fc.uniqueArray(fc.nat(39), { minLength: 1, maxLength: 4 }),
  // Without any, a hunk whose header is left out says something else.
  context: fc.integer({ min: 1, max: 3 }),
  header: fc.array(fc.constantFrom(...headers), { minLength: 1, maxLength: 4 }),
  between: fc.array(fc.record({ part: fc.nat(4), line: noise }), { maxLength: 3 }),
})

describe('text around and between the parts of a patch', () => {
  it('never makes a patch apply in part', async () => {
    const outcomes = { applied: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(patches, async ({ size, repeated, changed, context, ...form }) => {
        const lines = Array.from({ length: size }, (_, index) => `line ${index}`)
        for (const { at, line } of repeated) lines[at % size] = line
        const before = `${lines.join('\n')}\n`
        for (const at of changed) lines[at % size] = `changed ${at}`
        const after = `${lines.join('\n')}\n`
        const { hunks } = structuredPatch('f', 'f', before, after, '', '', { context })
        const parts = hunks.map(
          ({ oldStart, oldLines, newStart, newLines, lines: body }, index) => {
            // The line before an insertion.
            const [from, to] = [
              oldStart - (oldLines === 0 ? 1 : 0),
              newStart - (newLines === 0 ? 1 : 0),
            ]
            const stated = `@@ -${from},${oldLines} +${to},${newLines} @@`
            const header = form.header[index % form.header.length]?.(stated) ?? []
            return [...header, ...body]
          },
        )
        for (const { part, line } of form.between) {
          parts.splice(part % (parts.length + 1), 0, line.split('\n'))
        }
        const patch = `${parts.flat().join('\n')}\n`
        try {
          const result = applyPatchHunks(before, await readPatch(patch, target), 'f')
          expect(result, patch).toBe(after)
          outcomes.applied += 1
        } catch (refusal) {
          if (!(refusal instanceof Error) || !('code' in refusal)) throw refusal
          expect(['TOOL_PATCH_FAILED', 'TOOL_PATCH_ALREADY_APPLIED']).toContain(refusal.code)
          outcomes.refused += 1
        }
      }),
      { numRuns: 20_000 },
    )
    expect(outcomes.applied).toBeGreaterThan(4_000)
  })
})
