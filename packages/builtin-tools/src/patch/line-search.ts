import { patchFailed } from './unified-diff-error.ts'
import type { HunkLine } from './hunk.ts'

/** The lines of a file without newlines, but with carriage returns. */
export interface FileLines {
  readonly lines: readonly string[]
  /** False when the last line has no newline. */
  readonly endsWithNewline: boolean
}

/** The lines of a text. */
export function splitLines(text: string): FileLines {
  const lines = text.split('\n')
  const endsWithNewline = lines.at(-1) === ''
  if (endsWithNewline) lines.pop()
  return { lines, endsWithNewline }
}

/** Line comparisons allowed for one patch. */
const maxComparisons = 20_000_000
/** Positions that a refusal lists. */
export const maxCandidates = 10

/** The lines that must be in the file one after the other. */
interface Sought {
  readonly oldLines: readonly HunkLine[]
}

/** Finds the lines of a hunk in a file, with bounded work. */
export class LineSearch {
  readonly file: FileLines
  #comparisons = 0
  #positions: Map<string, number[]> | undefined

  constructor(file: FileLines) {
    this.file = file
  }

  /** Whether all old lines of a hunk match at an index. */
  matches({ oldLines }: Sought, index: number): boolean {
    if (index < 0 || index + oldLines.length > this.file.lines.length) return false
    for (let offset = 0; offset < oldLines.length; offset += 1) {
      this.#count()
      const line = oldLines[offset]
      if (line === undefined || !lineMatches(this.file, index + offset, line)) return false
    }
    return true
  }

  /** The first few indexes from `from` on, and before `to`, where a hunk matches. */
  candidates(hunk: Sought, from: number, to: number = Infinity): readonly number[] {
    const anchor = this.#rarestLine(hunk)
    const found: number[] = []
    for (const position of this.positionsOf(hunk.oldLines[anchor])) {
      const index = position - anchor
      if (index >= from && index < to && this.matches(hunk, index)) found.push(index)
      if (found.length > maxCandidates) break
    }
    return found
  }

  positionsOf(line: HunkLine | undefined): readonly number[] {
    const index = this.#index()
    const positions = index.get(withoutReturn(line?.content ?? '')) ?? []
    if (line?.unmarked === undefined) return positions
    const others = index.get(withoutReturn(line.unmarked)) ?? []
    if (others.length === 0) return positions
    return positions.length === 0 ? others : [...positions, ...others].toSorted((a, b) => a - b)
  }

  #rarestLine({ oldLines }: Sought): number {
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

  /** Counts comparisons that are made elsewhere for the same patch. */
  spend(comparisons: number): void {
    this.#count(comparisons)
  }

  #count(comparisons = 1): void {
    this.#comparisons += comparisons
    if (this.#comparisons <= maxComparisons) return
    throw patchFailed(
      'locating its hunks takes too much work: their line numbers are wrong and their lines occur too often. Correct the line numbers, or split the patch.',
    )
  }
}

/** Whether a line of a hunk matches at an index. Ignores a carriage return that only one of them has. */
export function lineMatches(
  { lines, endsWithNewline }: FileLines,
  index: number,
  line: HunkLine,
): boolean {
  const found = lines[index]
  if (found === undefined) return false
  if (found !== line.content && withoutReturn(found) !== withoutReturn(line.content)) {
    if (line.unmarked === undefined || withoutReturn(found) !== withoutReturn(line.unmarked)) {
      return false
    }
  }
  return !line.endsFile || (index === lines.length - 1 && !endsWithNewline)
}

export function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
