import type { SmithersError } from '@smithers/tool-core'
import type { Hunk, LooseHunk } from './hunk.ts'
import { differenceInCharacters } from './character-difference.ts'
import { type FileLines, type LineSearch, lineMatches, maxCandidates } from './line-search.ts'
import { patchFailed, quoteLine } from './unified-diff-error.ts'

/** Positions of one line that count in the search for the best match. */
const maxVotesPerLine = 2_000

/** The hunk of a refusal: its number, lines and position, if stated. */
export interface RefusedHunk {
  /** From 0; undefined without a line number. */
  readonly stated: number | undefined
  /** The first line after the earlier hunks. @default 0 */
  readonly firstFree?: number
  /** Hunks in the patch. */
  readonly count: number
  readonly path: string
}

type SoughtHunk = Pick<Hunk, 'number' | 'oldLines'>

function describeHunk({ number }: SoughtHunk, { count }: { readonly count: number }): string {
  return count === 1 ? 'the hunk' : `hunk ${number} of ${count}`
}

export function ambiguous(
  hunk: SoughtHunk,
  candidates: readonly number[],
  placing: RefusedHunk,
): SmithersError {
  const { stated, path } = placing
  const lines = candidates.slice(0, maxCandidates).map((index) => index + 1)
  const more = candidates.length > lines.length ? ' and more' : ''
  const fits = `fits at lines ${lines.join(', ')}${more}`
  const what =
    stated === undefined
      ? `${describeHunk(hunk, placing)} ${fits} of ${JSON.stringify(path)}`
      : candidates.includes(stated)
        ? `${describeHunk(hunk, placing)} has wrong counts in its header and ${fits} of ${JSON.stringify(path)}`
        : `${describeHunk(hunk, placing)} does not fit at line ${stated + 1} of ${JSON.stringify(path)} and ${fits}`
  return patchFailed(
    `${what}. Give it the right line number and counts, or more context. Nothing was changed.`,
    {
      details: {
        path,
        hunk: hunk.number,
        ...(stated === undefined ? {} : { line: stated + 1 }),
        candidates: lines,
      },
    },
  )
}

export function notEmpty(path: string, lineCount: number): SmithersError {
  return patchFailed(
    `"@@ -0,0" is for an empty file, but ${JSON.stringify(path)} has ${lineCount} lines. To insert at its beginning, add its first line as context; to replace all of it, use write. Nothing was changed.`,
    { details: { path, hunk: 1, lines: lineCount } },
  )
}

export function beyondEnd(
  hunk: SoughtHunk,
  { lines }: FileLines,
  placing: { stated: number; firstFree: number; count: number; path: string },
): SmithersError {
  const { stated, firstFree, path } = placing
  const problem =
    stated < firstFree
      ? `inserts before the end of the hunk above it; order the hunks as in the file`
      : `inserts without context after line ${stated}, but ${JSON.stringify(path)} has ${lines.length} lines`
  return patchFailed(`${describeHunk(hunk, placing)} ${problem}. Nothing was changed.`, {
    details: { path, hunk: hunk.number, line: stated + 1 },
  })
}

/** A hunk that only adds lines, without a line number that can be believed. */
export function withoutPosition(
  hunk: LooseHunk,
  placing: { readonly count: number; readonly path: string },
): SmithersError {
  return patchFailed(
    `${describeHunk(hunk, placing)} only adds lines, and nothing says where. Put the line before or after them into the hunk, beginning with a blank. Nothing was changed.`,
    { details: { path: placing.path, hunk: hunk.number } },
  )
}

export function outOfOrder(
  hunk: SoughtHunk,
  start: number,
  placing: { readonly count: number; readonly path: string },
): SmithersError {
  return patchFailed(
    `${describeHunk(hunk, placing)} fits at line ${start + 1} of ${JSON.stringify(placing.path)}, before the end of the hunk above it. Hunks must be in the order of the file and must not overlap. Nothing was changed.`,
    { details: { path: placing.path, hunk: hunk.number, line: start + 1 } },
  )
}

export function noMatch(search: LineSearch, hunk: SoughtHunk, placing: RefusedHunk): SmithersError {
  const { stated, path, firstFree = 0 } = placing
  const best = bestMatch(search, hunk, stated ?? 0)
  const name = `${describeHunk(hunk, placing)} does not match ${JSON.stringify(path)}`
  const what = stated === undefined ? name : `${name} at line ${stated + 1}`
  const atStated = stated === undefined ? '' : ` ${firstDifference(search.file, hunk, stated)}`
  const elsewhere = best !== undefined && best.index !== stated
  const nearest =
    best === undefined
      ? 'No other position is similar.'
      : elsewhere
        ? `Its lines match best at line ${best.index + 1} (${best.matching} of ${hunk.oldLines.length}). ${firstDifference(search.file, hunk, best.index)}`
        : 'No other position matches better.'
  const used =
    stated !== undefined && stated < firstFree
      ? ' Hunks must be in the order of the file and must not overlap.'
      : ''
  const bestText = elsewhere ? ` (best at line ${best.index + 1})` : ''
  return patchFailed(
    `${what}.${atStated} ${nearest}${used} Nothing was changed. Read the file again and base the hunk on its current contents.`,
    {
      logReason: `${what}${bestText}.`,
      details: {
        path,
        hunk: hunk.number,
        ...(stated === undefined ? {} : { line: stated + 1 }),
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
function firstDifference(file: FileLines, { oldLines }: SoughtHunk, index: number): string {
  for (const [offset, line] of oldLines.entries()) {
    if (lineMatches(file, index + offset, line)) continue
    const found = file.lines[index + offset]
    const prefix = `Line ${index + offset + 1}: expected ${quoteLine(line.content)}`
    if (line.endsFile && found === line.content) {
      return `${prefix} without a newline as the end of the file; more follows.`
    }
    const unlike = found === undefined ? '' : differenceInCharacters(line.content, found)
    return `${prefix}, found ${quoteLine(found)}.${unlike}`
  }
  return 'An earlier hunk covers these lines.'
}

/** The position where most lines of a hunk match; among equals, the one nearest to the stated line. */
function bestMatch(
  search: LineSearch,
  { oldLines }: SoughtHunk,
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
