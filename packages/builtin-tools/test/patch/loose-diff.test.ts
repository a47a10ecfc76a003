import { structuredPatch, type StructuredPatchHunk } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedText } from '../fixtures/edited-text.ts'
import { applyPatchHunks, readPatch } from '../../src/patch/patch-text.ts'
import type { PatchTarget } from '../../src/patch/patch-target.ts'

const target: PatchTarget = { path: 'f', isNamedBy: async (name) => /^(?:[ab]\/)?f$/u.test(name) }

interface Errors {
  readonly drift: number
  readonly old: number
  readonly added: number
}

function hunkText(header: string, { lines }: StructuredPatchHunk): string {
  return [header, ...lines, ''].join('\n')
}

function miscounted(hunk: StructuredPatchHunk, { drift, old, added }: Errors): string {
  const [oldStart, newStart] = [hunk.oldStart + drift, hunk.newStart + drift]
  const header = `@@ -${Math.max(0, oldStart)},${Math.max(0, hunk.oldLines + old)} +${Math.max(0, newStart)},${Math.max(0, hunk.newLines + added)} @@`
  return hunkText(header, hunk)
}

/** Context whose first character says nothing else loses its blank. */
function withoutBlanks(hunk: StructuredPatchHunk): StructuredPatchHunk {
  const lines = hunk.lines.map((line) => (/^ [^\s@+\\*`~-]/u.test(line) ? line.slice(1) : line))
  return { ...hunk, lines }
}

/** The ways in which models write the hunks of one file. */
const forms: readonly ((hunks: readonly StructuredPatchHunk[], errors: Errors) => string)[] = [
  (hunks, errors) => hunks.map((hunk) => miscounted(hunk, errors)).join(''),
  (hunks, errors) =>
    `--- a/f\n+++ b/f\n${hunks.map((hunk) => miscounted(withoutBlanks(hunk), errors)).join('')}`,
  (hunks) => hunks.map((hunk) => hunkText('@@', hunk)).join(''),
  (hunks) => hunks.map((hunk) => hunkText('@@ @@', withoutBlanks(hunk))).join('\n'),
  (hunks) => hunks.map(({ lines }) => `${lines.join('\n')}\n`).join(''),
  (hunks) =>
    `*** Begin Patch\n*** Update File: f\n${hunks.map((hunk) => hunkText('@@', hunk)).join('')}*** End Patch\n`,
  (hunks, errors) =>
    `Here is it:\n\n\`\`\`diff\n${hunks.map((hunk) => miscounted(hunk, errors)).join('')}\`\`\`\n`,
]

describe('a patch as models write it', () => {
  it('gives exactly the intended text or is refused, for random texts and edits', async () => {
    const outcomes = { applied: 0, refused: 0 }
    const error = fc.integer({ min: -3, max: 3 })
    await fc.assert(
      fc.asyncProperty(
        editedText,
        fc.constantFrom(...forms),
        fc.record({ drift: error, old: error, added: error }),
        async ({ before, after }, form, errors) => {
          if (before === after) return
          const { hunks } = structuredPatch('f', 'f', before, after, '', '', { context: 3 })
          const patch = form(hunks, errors)
          try {
            const result = applyPatchHunks(before, await readPatch(patch, target), 'f')
            // Where a patch without any carriage return leaves the line endings open, the file decides.
            const isOpen = before.includes('\r') && !patch.includes('\r')
            const shown = (text: string): string => (isOpen ? text.replaceAll('\r', '') : text)
            expect(shown(result), patch).toBe(shown(after))
            outcomes.applied += 1
          } catch (refusal) {
            if (!(refusal instanceof Error) || !('code' in refusal)) throw refusal
            expect(['TOOL_PATCH_FAILED', 'TOOL_PATCH_ALREADY_APPLIED']).toContain(refusal.code)
            outcomes.refused += 1
          }
        },
      ),
      { numRuns: 8000 },
    )
    expect(outcomes.applied).toBeGreaterThan(1500)
  })

  it('applies to texts whose lines differ, whatever the form', async () => {
    const edits = fc.record({
      size: fc.integer({ min: 8, max: 60 }),
      changed: fc.uniqueArray(fc.nat(59), { minLength: 1, maxLength: 4 }),
      errors: fc.record({
        drift: fc.integer({ min: -50, max: 50 }),
        old: fc.integer({ min: -3, max: 3 }),
        added: fc.integer({ min: -3, max: 3 }),
      }),
      form: fc.constantFrom(...forms.filter((_, index) => index !== 4)),
    })
    await fc.assert(
      fc.asyncProperty(edits, async ({ size, changed, errors, form }) => {
        const lines = Array.from({ length: size }, (_, index) => `line ${index}`)
        const before = `${lines.join('\n')}\n`
        for (const index of changed) lines[index % size] = `changed ${index}`
        const after = `${lines.join('\n')}\n`
        const { hunks } = structuredPatch('f', 'f', before, after, '', '', { context: 3 })
        const patch = form(hunks, errors)
        expect(applyPatchHunks(before, await readPatch(patch, target), 'f'), patch).toBe(after)
      }),
      { numRuns: 2000 },
    )
  })
})
