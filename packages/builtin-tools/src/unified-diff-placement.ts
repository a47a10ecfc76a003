import type { SmithersError } from '@smithers/tool-core'
import { patchFailed, quoteLine } from './unified-diff-error.ts'
import type { Hunk, HunkLine } from './unified-diff-parse.ts'

/** The lines of a file without newlines, but with carriage returns. */
export interface FileLines {
  readonly lines: readonly string[]
  /** False when the last line has no newline. */
  readonly endsWithNewline: boolean
}

/** Line comparisons allowed for one patch. */
const maxComparisons = 20_000_000
/** Positions of one line that count in the search for the best match. */
const maxVotesPerLine = 2_000
const maxShownCandidates = 10

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
  const search = new Search(file)
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

function placeHunk(search: Search, hunk: Hunk, placing: Placing): number {
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

class Search {
  readonly file: FileLines
  #comparisons = 0
  #positions: Map<string, number[]> | undefined

  constructor(file: FileLines) {
    this.file = file
  }

  /** Whether all old lines of a hunk match at an index. */
  matches({ oldLines }: Hunk, index: number): boolean {
    if (index < 0 || index + oldLines.length > this.file.lines.length) return false
    for (let offset = 0; offset < oldLines.length; offset += 1) {
      this.#count()
      const line = oldLines[offset]
      if (line === undefined || !lineMatches(this.file, index + offset, line)) return false
    }
    return true
  }

  /** The first few indexes from `from` on where a hunk matches. */
  candidates(hunk: Hunk, from: number): readonly number[] {
    const anchor = this.#rarestLine(hunk)
    const found: number[] = []
    for (const position of this.positionsOf(hunk.oldLines[anchor])) {
      const index = position - anchor
      if (index >= from && this.matches(hunk, index)) found.push(index)
      if (found.length > maxShownCandidates) break
    }
    return found
  }

  positionsOf(line: HunkLine | undefined): readonly number[] {
    return this.#index().get(withoutReturn(line?.content ?? '')) ?? []
  }

  #rarestLine({ oldLines }: Hunk): number {
    let rarest = 0
    for (const [offset, line] of oldLines.entries()) {
      this.#count()
      if (this.positionsOf(line).length < this.positionsOf(oldLines[rarest]).length) rarest = offset
    }
    return rarest
  }

  #index(): Map<string, number[]> {
    if (this.#positions !== undefined) return this.#positions
    this.#positions = new Map()
    for (const [index, line] of this.file.lines.entries()) {
      const key = withoutReturn(line)
      const positions = this.#positions.get(key)
      if (positions === undefined) this.#positions.set(key, [index])
      else positions.push(index)
    }
    return this.#positions
  }

  #count(): void {
    this.#comparisons += 1
    if (this.#comparisons <= maxComparisons) return
    throw patchFailed(
      'locating its hunks takes too much work: their line numbers are wrong and their lines occur too often. Correct the line numbers, or split the patch.',
    )
  }
}

/** Whether a line of a hunk matches at an index. Ignores a carriage return that only one of them has. */
function lineMatches(
  { lines, endsWithNewline }: FileLines,
  index: number,
  line: HunkLine,
): boolean {
  const found = lines[index]
  if (found === undefined) return false
  if (found !== line.content && withoutReturn(found) !== withoutReturn(line.content)) return false
  return !line.endsFile || (index === lines.length - 1 && !endsWithNewline)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function describeHunk({ number }: Hunk, { count }: Placing): string {
  return count === 1 ? 'the hunk' : `hunk ${number} of ${count}`
}

function ambiguous(hunk: Hunk, candidates: readonly number[], placing: Placing): SmithersError {
  const lines = candidates.slice(0, maxShownCandidates).map((index) => index + 1)
  const more = candidates.length > lines.length ? ' and more' : ''
  return patchFailed(
    `${describeHunk(hunk, placing)} does not fit at line ${placing.stated + 1} of ${JSON.stringify(placing.path)} and fits at lines ${lines.join(', ')}${more}. Give it the right line number, or more context. Nothing was changed.`,
    {
      details: {
        path: placing.path,
        hunk: hunk.number,
        line: placing.stated + 1,
        candidates: lines,
      },
    },
  )
}

function notEmpty(path: string, lineCount: number): SmithersError {
  return patchFailed(
    `"@@ -0,0" is for an empty file, but ${JSON.stringify(path)} has ${lineCount} lines. To insert at its beginning, add its first line as context; to replace all of it, use write. Nothing was changed.`,
    { details: { path, hunk: 1, lines: lineCount } },
  )
}

function beyondEnd(hunk: Hunk, { lines }: FileLines, placing: Placing): SmithersError {
  const { stated, firstFree, path } = placing
  const problem =
    stated < firstFree
      ? `inserts before the end of the hunk above it; order the hunks as in the file`
      : `inserts without context after line ${stated}, but ${JSON.stringify(path)} has ${lines.length} lines`
  return patchFailed(`${describeHunk(hunk, placing)} ${problem}. Nothing was changed.`, {
    details: { path, hunk: hunk.number, line: stated + 1 },
  })
}

function noMatch(search: Search, hunk: Hunk, placing: Placing): SmithersError {
  const { stated, path } = placing
  const best = bestMatch(search, hunk, stated)
  const atStated = firstDifference(search.file, hunk, stated)
  const what = `${describeHunk(hunk, placing)} does not match ${JSON.stringify(path)} at line ${stated + 1}`
  const elsewhere = best !== undefined && best.index !== stated
  const nearest =
    best === undefined
      ? 'No other position is similar.'
      : elsewhere
        ? `Its lines match best at line ${best.index + 1} (${best.matching} of ${hunk.oldLines.length}). ${firstDifference(search.file, hunk, best.index)}`
        : 'No other position matches better.'
  const used =
    stated < placing.firstFree
      ? ' Hunks must be in the order of the file and must not overlap.'
      : ''
  const bestText = elsewhere ? ` (best at line ${best.index + 1})` : ''
  return patchFailed(
    `${what}. ${atStated} ${nearest}${used} Nothing was changed. Read the file again and base the hunk on its current contents.`,
    {
      logReason: `${what}${bestText}.`,
      details: {
        path,
        hunk: hunk.number,
        line: stated + 1,
        ...(best === undefined
          ? {}
          : {
              bestLine: best.index + 1,
              matchingLines: best.matching,
              oldLines: hunk.oldLines.length,
            }),
      },
    },
  )
}

/** Describes the first line that differs. */
function firstDifference(file: FileLines, { oldLines }: Hunk, index: number): string {
  for (const [offset, line] of oldLines.entries()) {
    if (lineMatches(file, index + offset, line)) continue
    const found = file.lines[index + offset]
    const prefix = `Line ${index + offset + 1}: expected ${quoteLine(line.content)}`
    return line.endsFile && found === line.content
      ? `${prefix} without a newline as the end of the file; more follows.`
      : `${prefix}, found ${quoteLine(found)}.`
  }
  return 'An earlier hunk covers these lines.'
}

/** The position where most lines of a hunk match; among equals, the one nearest to the stated line. */
function bestMatch(
  search: Search,
  { oldLines }: Hunk,
  stated: number,
): { readonly index: number; readonly matching: number } | undefined {
  const votes = new Map<number, number>()
  for (const [offset, line] of oldLines.entries()) {
    const positions = search.positionsOf(line)
    // A very frequent line says nothing about the position and would cost the most.
    if (positions.length > maxVotesPerLine) continue
    for (const position of positions) {
      const index = position - offset
      if (index >= 0) votes.set(index, (votes.get(index) ?? 0) + 1)
    }
    if (votes.size > maxVotesPerLine * 50) break
  }
  let best: { index: number; matching: number } | undefined
  for (const [index, matching] of votes) {
    const isBetter =
      best === undefined ||
      matching > best.matching ||
      (matching === best.matching && Math.abs(index - stated) < Math.abs(best.index - stated))
    if (isBetter) best = { index, matching }
  }
  return best
}
