import { patchFailed } from './unified-diff-error.ts'
import type { Hunk, HunkLine } from './hunk.ts'
import { placeHunks } from './unified-diff-placement.ts'
import { type FileLines, splitLines, withoutReturn } from './line-search.ts'

/**
 * Applies the hunks of a unified diff to a text. Text outside the hunks stays exactly as it is, including line endings and
 * a missing final newline.
 *
 * A hunk that matches only apart from line endings (an LF patch for a CRLF file) gets the file's line endings; a hunk that
 * matches exactly is applied literally.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export function applyHunks(text: string, given: readonly Hunk[], path: string): string {
  const file = splitLines(text)
  const hunks = withoutByteOrderMark(file, given)
  const starts = placeHunks(file, hunks, path)
  const offsetOf = lineOffsets(file, text.length)
  const parts: string[] = []
  // A patch with carriage returns means its line endings; a patch without any may come from a tool that drops them.
  const isLiteral = hunks.some(({ lines }) => lines.some(({ content }) => content.endsWith('\r')))
  const isReturned = !isLiteral && hasOnlyReturns(file)
  let next = 0
  let copied = 0
  for (const [index, hunk] of hunks.entries()) {
    const start = starts[index] ?? 0
    const last = index === hunks.length - 1
    parts.push(text.slice(copied, offsetOf(start)))
    next = start + hunk.oldLines.length
    copied = offsetOf(next)
    const reachesEnd = last && next === file.lines.length
    const converts = needsConversion(file, hunk, start, isReturned)
    parts.push(replacement(file, hunk, { start, reachesEnd, converts }))
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

const byteOrderMark = '\uFEFF'

/** Removes the byte order mark that generated patches repeat in the first line; it is not part of the text. */
function withoutByteOrderMark(file: FileLines, hunks: readonly Hunk[]): readonly Hunk[] {
  const [first, ...others] = hunks
  const isMarked = first?.oldLines[0]?.content.startsWith(byteOrderMark) === true
  if (!isMarked || first.statedIndex !== 0 || file.lines[0]?.startsWith(byteOrderMark) === true) {
    return hunks
  }
  const firstOld = first.lines.findIndex(({ operation }) => operation !== '+')
  const firstNew = first.lines.findIndex(({ operation }) => operation !== '-')
  const lines = first.lines.map((line, index) =>
    (index === firstOld || index === firstNew) && line.content.startsWith(byteOrderMark)
      ? { ...line, content: line.content.slice(byteOrderMark.length) }
      : line,
  )
  const oldLines = lines.filter((line) => line.operation !== '+')
  return [{ ...first, lines, oldLines }, ...others]
}

/** Returns the offset of a line. Call it with ascending line indexes. */
function lineOffsets({ lines }: FileLines, length: number): (index: number) => number {
  let next = 0
  let offset = 0
  return (index) => {
    for (; next < index; next += 1) offset += (lines[next]?.length ?? 0) + 1
    // The last line may have no newline.
    return Math.min(offset, length)
  }
}

/** A line of the result, without its newline. */
interface ResultLine {
  text: string
  newline: boolean
  isNew: boolean
}

/** Where a hunk goes, and how. */
interface Placement {
  readonly start: number
  /** The hunk covers the last line of the file. */
  readonly reachesEnd: boolean
  /** New lines get the line endings of the file. */
  readonly converts: boolean
}

function replacement(
  file: FileLines,
  hunk: Hunk,
  { start, reachesEnd, converts }: Placement,
): string {
  const result: ResultLine[] = []
  let position = start
  for (const line of hunk.lines) {
    if (line.operation === '-') {
      position += 1
    } else if (line.operation === ' ') {
      result.push({
        text: file.lines[position] ?? '',
        newline: hasNewline(file, position),
        isNew: false,
      })
      position += 1
    } else {
      const text = converts ? withEndingOf(file, position, line) : line.content
      result.push({ text, newline: !line.endsFile, isNew: true })
    }
  }
  return joinLines(file, hunk, result, { start, reachesEnd, converts })
}

/** Joins lines so that only the last line of the file can lack a newline. */
function joinLines(
  file: FileLines,
  hunk: Hunk,
  result: ResultLine[],
  { start, reachesEnd, converts }: Placement,
): string {
  const last = result.at(-1)
  const marked = hunk.lines.some(({ endsFile }) => endsFile)
  if (reachesEnd && !file.endsWithNewline && !marked && last?.isNew === true) {
    // The patch does not mention the missing final newline, so the file keeps lacking it.
    last.newline = false
    if (converts) last.text = withoutReturn(last.text)
  }
  const isOpenBefore =
    reachesEnd && start === file.lines.length && start > 0 && !file.endsWithNewline
  let text = isOpenBefore && result.length > 0 ? '\n' : ''
  for (const [index, line] of result.entries()) {
    const isLast = reachesEnd && index === result.length - 1
    if (!line.newline && !isLast && line.isNew) {
      throw patchFailed(
        `hunk ${hunk.number} says that a line ends the file, but more lines follow it. Remove "\\ No newline at end of file", or put the line last.`,
        { details: { hunk: hunk.number } },
      )
    }
    text += line.text + (line.newline || !isLast ? '\n' : '')
  }
  return text
}

function hasNewline({ lines, endsWithNewline }: FileLines, index: number): boolean {
  return endsWithNewline || index < lines.length - 1
}

/** Whether the lines of a hunk differ from the file only in line endings. */
function needsConversion(file: FileLines, hunk: Hunk, start: number, isReturned: boolean): boolean {
  // Without context, the whole file decides.
  if (hunk.oldLines.length === 0) return isReturned
  return hunk.oldLines.some((line, offset) => {
    // The last line of a CRLF file without a final newline has no carriage return.
    return file.lines[start + offset] !== line.content && hasNewline(file, start + offset)
  })
}

/** Whether every newline of a file is CRLF. */
function hasOnlyReturns(file: FileLines): boolean {
  const isReturned = (line: string, index: number) =>
    line.endsWith('\r') || !hasNewline(file, index)
  return file.lines.length > 0 && file.lines.every(isReturned)
}

/** A new line with the ending of the line it replaces or follows. */
function withEndingOf(file: FileLines, position: number, line: HunkLine): string {
  const previous = position > 0 ? position - 1 : 0
  // The last line of a file without a final newline has no line ending.
  const neighbour = hasNewline(file, previous) ? previous : previous - 1
  const returned = file.lines[neighbour]?.endsWith('\r') === true
  const text = withoutReturn(line.content)
  return returned && !line.endsFile ? `${text}\r` : text
}
