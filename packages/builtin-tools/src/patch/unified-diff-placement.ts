import type { Hunk } from './hunk.ts'
import { type FileLines, LineSearch } from './line-search.ts'
import { ambiguous, beyondEnd, noMatch, notEmpty } from './placement-error.ts'

/**
 * Finds the line index at which each hunk applies: at the line in its header, shifted like the hunk before it, else at the
 * only other position where all its old lines match.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED` when a hunk matches nowhere or at several positions
 */
export function placeHunks(
  file: FileLines,
  hunks: readonly Hunk[],
  path: string,
): readonly number[] {
  const search = new LineSearch(file)
  const starts: number[] = []
  let offset = 0
  let firstFree = 0
  for (const hunk of hunks) {
    const stated = hunk.statedIndex + offset
    const start = placeHunk(search, hunk, { stated, firstFree, count: hunks.length, path })
    starts.push(start)
    offset = start - hunk.statedIndex
    firstFree = start + hunk.oldLines.length
  }
  return starts
}

interface Placing {
  readonly stated: number
  /** The first line after the earlier hunks. */
  readonly firstFree: number
  /** Hunks in the patch. */
  readonly count: number
  readonly path: string
}

function placeHunk(search: LineSearch, hunk: Hunk, placing: Placing): number {
  const { stated, firstFree } = placing
  const lineCount = search.file.lines.length
  if (hunk.isForEmptyFile && lineCount > 0) throw notEmpty(placing.path, lineCount)
  if (stated >= firstFree && search.matches(hunk, stated)) return stated
  // An insertion without context can only go to its line number.
  if (hunk.oldLines.length === 0) throw beyondEnd(hunk, search.file, placing)
  const candidates = search.candidates(hunk, firstFree)
  if (candidates.length === 1 && candidates[0] !== undefined) return candidates[0]
  if (candidates.length > 1) throw ambiguous(hunk, candidates, placing)
  throw noMatch(search, hunk, placing)
}
