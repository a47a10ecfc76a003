import { patchFailed, quoteLine } from './unified-diff-error.ts'

/** An item of a list or a rule in the prose of an answer. A removed line rarely has exactly one blank before its text. */
const listItem = /^- (?!\*[\s/]|\*$)\S|^-{3,}\s*$/u

/**
 * The first line that may belong to a change, of lines that are not applied: the header of a hunk, an added line, or a
 * removed one. Undefined for prose, in which dashes begin the items of a list.
 */
export function firstChange(lines: readonly string[]): string | undefined {
  return lines.find(
    (line) => /^(?:@@|\+)/u.test(line) || (line.startsWith('-') && !listItem.test(line)),
  )
}

/**
 * Refuses a patch of which a part would be left out.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export function checkOutside(lines: readonly string[]): void {
  const line = firstChange(lines)
  if (line === undefined) return
  const what = 'a line that looks like a change is outside of the part that would be applied'
  throw patchFailed(
    `${what}: ${quoteLine(line)}. Send one diff without fences, with "@@" in front of each of its parts.`,
    { logReason: `${what}.` },
  )
}
