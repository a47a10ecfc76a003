import { patchFailed } from './unified-diff-error.ts'

const openingFence = /^ {0,3}(`{3,}|~{3,}) ?[\w.+-]*$/u
const patchSyntax = /^(?:@@|---\s|\+\+\+\s|\*\*\* |diff |Index:)/u

/**
 * The lines inside the Markdown fence around a patch, or all lines without one.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED` when the fence may end at several lines
 */
export function withoutFence(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex(
    (line) => openingFence.test(line.trimEnd()) || patchSyntax.test(line),
  )
  const fence = openingFence.exec((lines[start] ?? '').trimEnd())?.[1]
  if (fence === undefined) return lines
  const inside = lines.slice(start + 1)
  const closing = new RegExp(`^ {0,3}[${fence[0]}]{${fence.length},}\\s*$`, 'u')
  const end = inside.findIndex((line) => closing.test(line))
  if (end === -1) return inside
  if (inside.slice(end + 1).some((line) => /^ {0,3}(?:`{3}|~{3})/u.test(line))) {
    throw patchFailed(
      'it has several Markdown fences, so its end is unclear. Send the diff without fences.',
    )
  }
  return inside.slice(0, end)
}

/** git ends mailed patches with "-- " and its version, which a parser would take for a removed line. */
export function withoutSignature(patch: string): string {
  return patch.replace(/\n-- \n\d[\w. ()-]*\n*$/u, '\n')
}
