import { anchoredBlock } from './anchored-block.ts'
import type { Hunk, HunkLine, LooseHunk } from './hunk.ts'
import { type FileLines, LineSearch, lineMatches } from './line-search.ts'
import { ambiguous, noMatch, outOfOrder, withoutPosition } from './placement-error.ts'

/**
 * Finds the one position of each hunk, wherever its header says it is, and returns the hunks with that position as the
 * stated one. Only a header whose counts are right is believed when several positions match.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED` when a hunk matches nowhere, at several positions, or before the end of the
 * hunk above it
 */
export function placeLooseHunks(
  file: FileLines,
  hunks: readonly LooseHunk[],
  path: string,
): readonly Hunk[] {
  const search = new LineSearch(file)
  let offset = 0
  let firstFree = 0
  return hunks.map((hunk) => {
    const placing = { offset, firstFree, count: hunks.length, path }
    const start = placeHunk(search, hunk, placing)
    if (start < firstFree) throw outOfOrder(hunk, start, placing)
    if (hunk.statedIndex !== undefined) offset = start - hunk.statedIndex
    firstFree = start + hunk.oldLines.length
    return exactHunk(file, hunk, start)
  })
}

interface Placing {
  /** How far the hunk before was from its stated position. */
  readonly offset: number
  readonly firstFree: number
  readonly count: number
  readonly path: string
}

function placeHunk(search: LineSearch, hunk: LooseHunk, placing: Placing): number {
  const { file } = search
  const stated = hunk.statedIndex === undefined ? undefined : hunk.statedIndex + placing.offset
  const marked = withoutUnmarked(hunk)
  if (hunk.oldLines.length === 0) {
    if (file.lines.length === 0) return 0
    const isKnown = hunk.isCounted && !hunk.isForEmptyFile && stated !== undefined
    if (isKnown && search.matches(marked, stated)) return stated
    throw withoutPosition(hunk, placing)
  }
  if (hunk.isCounted && stated !== undefined && stated >= placing.firstFree) {
    if (search.matches(marked, stated)) return stated
  }
  // A lost blank is considered only when nothing matches with all of them.
  for (const sought of [marked, hunk]) {
    const candidates = candidatesOf(search, sought)
    if (candidates.length === 1 && candidates[0] !== undefined) return candidates[0]
    if (candidates.length > 1) throw ambiguous(hunk, candidates, { ...placing, stated })
  }
  throw noMatch(search, hunk, { ...placing, stated })
}

function candidatesOf(search: LineSearch, hunk: LooseHunk): readonly number[] {
  const length = hunk.oldLines.length
  const { lines } = search.file
  if (hunk.endsWithFile) {
    const last = lines.length - length
    return search.matches(hunk, last) ? [last] : []
  }
  search.spend(lines.length * hunk.anchors.length)
  const block = anchoredBlock(lines, hunk.anchors)
  // Lines that the hunk shares with its anchor may precede it.
  const first = Math.max(0, block.from - length + 1)
  const found = search.candidates(hunk, first)
  // A block chooses among several positions. A single one after it counts: git names the function above.
  return found.length > 1 && hunk.statedIndex === undefined
    ? search.candidates(hunk, first, block.to)
    : found
}

function withoutUnmarked(hunk: LooseHunk): LooseHunk {
  return { ...hunk, oldLines: hunk.oldLines.map(markedLine) }
}

function markedLine({ operation, content, endsFile }: HunkLine): HunkLine {
  return { operation, content, endsFile }
}

/** The hunk with the contents that matched, at the position where they did. */
function exactHunk(file: FileLines, hunk: LooseHunk, start: number): Hunk {
  let index = start
  const lines = hunk.lines.map((line): HunkLine => {
    const marked = markedLine(line)
    if (line.operation === '+') return marked
    const isMarked = lineMatches(file, index, marked)
    index += 1
    return isMarked || line.unmarked === undefined ? marked : { ...marked, content: line.unmarked }
  })
  const oldLines = lines.filter(({ operation }) => operation !== '+')
  const { number, isForEmptyFile } = hunk
  return { number, statedIndex: start, lines, oldLines, isForEmptyFile }
}
