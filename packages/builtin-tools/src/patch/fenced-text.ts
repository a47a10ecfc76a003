import { checkOutside } from './outside-text.ts'
import { patchFailed } from './unified-diff-error.ts'

// Only in the first column: in a diff of a Markdown file, the fences of that file come after a blank, "-" or "+".
const openingFence = /^(`{3,}|~{3,}) ?[\w.+-]*$/u
const patchSyntax = /^(?:@@|---\s|\+\+\+\s|\*\*\* |diff |Index:)/u

/**
 * The lines inside the Markdown fence around a patch, or all lines without one.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED` when the fence may end at several lines, or has a part of the change outside
 */
export function withoutFence(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex(
    (line) => openingFence.test(line.trimEnd()) || patchSyntax.test(line),
  )
  const fence = openingFence.exec((lines[start] ?? '').trimEnd())?.[1]
  if (fence === undefined) return lines
  const inside = lines.slice(start + 1)
  const closing = new RegExp(`^[${fence[0]}]{${fence.length},}\\s*$`, 'u')
  const end = inside.findIndex((line) => closing.test(line))
  const after = end === -1 ? [] : inside.slice(end + 1)
  if (after.some((line) => /^(?:`{3}|~{3})/u.test(line))) {
    throw patchFailed(
      'it has several Markdown fences, so its end is unclear. Send the diff without fences.',
    )
  }
  checkOutside([...lines.slice(0, start), ...after])
  return end === -1 ? inside : inside.slice(0, end)
}

/** git ends mailed patches with "-- " and its version, which a parser would take for a removed line. */
export function withoutSignature(patch: string): string {
  return patch.replace(/\n-- \n\d+\.\d[\w. ()-]*\n*$/u, '\n')
}
