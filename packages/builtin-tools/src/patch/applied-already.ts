import type { HunkLine, LooseHunk } from './hunk.ts'
import { type FileLines, LineSearch } from './line-search.ts'

/**
 * The lines, from 1, at which the new text of every hunk is in the file already; undefined when the text of a hunk is
 * missing, is at several positions, or says nothing by itself.
 */
export function appliedAlready(
  file: FileLines,
  hunks: readonly LooseHunk[],
): readonly number[] | undefined {
  const search = new LineSearch(file)
  const found: number[] = []
  let offset = 0
  for (const { lines, statedIndex } of hunks) {
    const newLines = lines.filter(({ operation }) => operation !== '-')
    if (!tells(lines, newLines)) return undefined
    const stated = statedIndex === undefined ? -1 : statedIndex + offset
    const sought = { oldLines: newLines }
    const start = search.matches(sought, stated) ? stated : only(search.candidates(sought, 0))
    if (start === undefined) return undefined
    const oldCount = lines.filter(({ operation }) => operation !== '+').length
    if (statedIndex !== undefined) offset = start - statedIndex + newLines.length - oldCount
    found.push(start + 1)
  }
  return found
}

/**
 * A line that says something counts beside one of context: alone, it may be in the file for another reason. A removal shows
 * only by the lines on both sides of it.
 */
function tells(lines: readonly HunkLine[], newLines: readonly HunkLine[]): boolean {
  const hasContext = lines.some(
    ({ operation, content }) => operation === ' ' && content.trim() !== '',
  )
  const saysSomething = newLines.some(
    ({ operation, content }) => operation === '+' && /[^\s{}()[\];,]/u.test(content),
  )
  if (saysSomething) return hasContext
  return newLines.length > 1 && lines[0]?.operation === ' ' && lines.at(-1)?.operation === ' '
}

function only(candidates: readonly number[]): number | undefined {
  return candidates.length === 1 ? candidates[0] : undefined
}
