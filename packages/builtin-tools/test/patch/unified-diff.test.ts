import { applyPatch, createTwoFilesPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedText } from '../fixtures/edited-text.ts'
import { applyPatchHunks, readPatch } from '../../src/patch/patch-text.ts'
import type { PatchTarget } from '../../src/patch/patch-target.ts'

const target: PatchTarget = { path: 'f', isNamedBy: async (name) => name === 'f' }

async function apply(text: string, patch: string): Promise<string> {
  return applyPatchHunks(text, await readPatch(patch, target), 'f')
}

describe('applyHunks', () => {
  it('reproduces the new text of a diff, for random texts, edits and context', async () => {
    let changed = 0
    await fc.assert(
      fc.asyncProperty(
        editedText,
        fc.integer({ min: 0, max: 4 }),
        async ({ before, after }, context) => {
          if (before === after) return
          const patch = createTwoFilesPatch('f', 'f', before, after, '', '', { context })
          // Lines added to a CRLF file without any context get CRLF: nothing says that they should not.
          if (context === 0 && !patch.includes('\r') && before.includes('\r')) return
          // What the library itself cannot put together again (a hunk without context at a changed end) is no test of ours.
          // To us as to git, line 0 is one of an empty file.
          const headers = patch.split('\n').filter((line) => line.startsWith('@@ '))
          if (before !== '' && headers.length === 1 && headers[0]?.startsWith('@@ -0,0') === true)
            return
          const reference = applyPatch(before, patch, { autoConvertLineEndings: false })
          if (reference !== after) return
          changed += 1
          expect(await apply(before, patch)).toBe(after)
        },
      ),
      { numRuns: 2000 },
    )
    expect(changed).toBeGreaterThan(1000)
  })

  it('keeps CRLF when the diff was made from LF texts', async () => {
    let changed = 0
    await fc.assert(
      fc.asyncProperty(editedText, async ({ before, after }) => {
        const [from, to] = [before.replaceAll('\r', ''), after.replaceAll('\r', '')]
        if (from === to || !from.includes('\n')) return
        changed += 1
        const patch = createTwoFilesPatch('f', 'f', from, to)
        expect(await apply(from.replaceAll('\n', '\r\n'), patch)).toBe(to.replaceAll('\n', '\r\n'))
      }),
      { numRuns: 1000 },
    )
    expect(changed).toBeGreaterThan(500)
  })

  it('refuses or applies any patch, and changes nothing outside its hunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        editedText,
        fc.nat(200),
        fc.string({ maxLength: 3 }),
        async ({ before, after }, at, noise) => {
          const patch = createTwoFilesPatch('f', 'f', before, after)
          const broken =
            patch.slice(0, at % (patch.length + 1)) +
            noise +
            patch.slice((at % (patch.length + 1)) + 1)
          try {
            expect(typeof (await apply(before, broken))).toBe('string')
          } catch (error) {
            // What is left of a patch may be there already, further down.
            expect(['TOOL_PATCH_FAILED', 'TOOL_PATCH_ALREADY_APPLIED']).toContain(
              (error as { code?: unknown }).code,
            )
          }
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('bounds the work for a 200 KB patch whose hunks match everywhere but at their lines', async () => {
    const text = 'x\n'.repeat(60_000)
    const hunks = Array.from(
      { length: 9000 },
      (_, index) => `@@ -${70_000 + index} +1 @@\n-x\n+y\n`,
    )
    await expect(apply(text, hunks.join(''))).rejects.toThrow(
      /fits at lines 1, 2, 3|too much work/u,
    )
    const long = `@@ -5,30001 +5,30001 @@\n${' x\n'.repeat(30_000)}-z\n+y\n`
    await expect(apply(text, long)).rejects.toMatchObject({ code: 'TOOL_PATCH_FAILED' })
    // Every hunk almost fits at every place.
    const almost = `@@ -70000,20001 +1,20001 @@\n${' x\n'.repeat(20_000)}-only\n+y\n`
    await expect(apply(`${text}only\n`.repeat(1), almost)).resolves.toBe(`${text}y\n`)
    const nowhere = `@@ -70000,20002 +1,20002 @@\n${' x\n'.repeat(10_000)}-y\n${' x\n'.repeat(10_000)}-q\n+y\n+y\n`
    await expect(apply(`${'x\n'.repeat(20_000)}y\n`.repeat(4), nowhere)).rejects.toMatchObject({
      code: 'TOOL_PATCH_FAILED',
    })
  })
})
