/**
 * The index of the first line of a hunk that has no header of its own: the lines behind the header of the file, those
 * directly before the first `@@`, or a whole patch without `@@`. Undefined when the text before the first `@@` only names
 * the file or is prose, lists included.
 */
export function bareHunkStart(lines: readonly string[]): number | undefined {
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'))
  const end = firstHunk === -1 ? lines.length : firstHunk
  const header = headerEnd(lines, end)
  const start = header ?? (firstHunk === -1 ? 0 : runStart(lines, end))
  const isChange = lines.slice(start, end).some((line) => /^[+-]/u.test(line))
  if (!isChange) return undefined
  const first = lines.findIndex((line, index) => index >= start && line.trim() !== '')
  return first === -1 ? undefined : first
}

/** The lines before `end` that are not those of a file's header. */
export function linesOutside(lines: readonly string[], end: number): readonly string[] {
  const outside: string[] = []
  let index = 0
  while (index < end) {
    const length = headerLength(lines, index)
    if (length === 0) outside.push(lines[index] ?? '')
    index += Math.max(1, length)
  }
  return outside
}

/** The index after the first lines that name a file; undefined without any. */
function headerEnd(lines: readonly string[], end: number): number | undefined {
  let index = 0
  while (index < end && headerLength(lines, index) === 0) index += 1
  if (index === end) return undefined
  while (index < end) {
    const length = headerLength(lines, index)
    if (length === 0 && (lines[index] ?? '').trim() !== '') return index
    index += length === 0 ? 1 : length
  }
  return Math.min(index, end)
}

/** How many lines of a file's header begin here. */
function headerLength(lines: readonly string[], index: number): number {
  const line = lines[index] ?? ''
  if (isFilePair(lines, index)) return 2
  return headerLine.test(line) ? 1 : 0
}

const headerLine =
  /^(?:diff |Index:|={10}|index [\da-f]+\.\.|(?:dis)?similarity |rename |copy |(?:old|new) mode |(?:new|deleted) file mode |\*\*\* (?:Begin Patch|Update File:|Add File:|Delete File:|Move to:))/u

/** Whether `--- old` and `+++ new` begin here. */
export function isFilePair(lines: readonly string[], index: number): boolean {
  return /^---\s/u.test(lines[index] ?? '') && /^\+\+\+\s/u.test(lines[index + 1] ?? '')
}

/** Where the lines without a blank one before `end` begin. */
function runStart(lines: readonly string[], end: number): number {
  let start = end
  while (start > 0 && (lines[start - 1] ?? '').trim() !== '') start -= 1
  return start
}
