import type { StructuredPatch } from 'diff'
import { type Hunk, hunkHeader, type HunkLine } from './hunk.ts'
import { firstChange } from './outside-text.ts'
import { bareHunkStart, linesOutside } from './unified-diff-body.ts'
import { extendedHeaderName, headerNames } from './unified-diff-header.ts'

/** A patch of one file. */
export interface ParsedPatch<Kind> {
  /** The names that its headers give the file. */
  readonly names: readonly string[]
  readonly hunks: readonly Kind[]
}

/**
 * Parses a well-formed unified diff of one file. `diff` does the parsing; the checks afterwards find text that it skips,
 * which may be part of the intended change.
 *
 * @returns undefined for anything that is not well-formed
 * @throws SmithersError `TOOL_PATCH_FAILED` for a patch that creates, deletes, renames or copies
 */
export function parseUnifiedDiff(
  patch: string,
  parsePatch: typeof import('diff').parsePatch,
): ParsedPatch<Hunk> | undefined {
  const lines = patch.split('\n')
  if (lines.some((line) => line.startsWith('@@') && !hunkHeader.test(line))) return undefined
  if (bareHunkStart(lines) !== undefined) return undefined
  const start = lines.findIndex((line) => line.startsWith('@@'))
  if (start === -1 || firstChange(linesOutside(lines, start)) !== undefined) return undefined
  let files: readonly StructuredPatch[]
  try {
    files = parsePatch(patch)
  } catch {
    return undefined
  }
  const [file, ...others] = files
  if (file === undefined || others.length > 0 || file.hunks.length === 0) return undefined
  const stray = strayNames(lines, file)
  if (stray === undefined) return undefined
  const hunks = file.hunks.map(({ oldStart, lines: body }, index) =>
    hunk(index + 1, oldStart - 1, body),
  )
  const [first] = hunks
  if (first !== undefined && hunks.length === 1 && file.oldFileName !== undefined) {
    hunks[0] = { ...first, isForEmptyFile: lines.some((line) => line.startsWith('@@ -0,0 ')) }
  }
  if (hunks.every((each) => each.lines.every(({ operation }) => operation === ' '))) {
    return undefined
  }
  return { names: [...headerNames(file), ...stray], hunks }
}

function hunk(number: number, statedIndex: number, body: readonly string[]): Hunk {
  const lines: HunkLine[] = []
  for (const [index, text] of body.entries()) {
    const operation = text[0] ?? ' '
    // "\ No newline at end of file" applies to the line before it.
    if (operation !== ' ' && operation !== '-' && operation !== '+') continue
    lines.push({
      operation,
      content: text.slice(1),
      endsFile: body[index + 1]?.startsWith('\\') === true,
    })
  }
  const oldLines = lines.filter((line) => line.operation !== '+')
  return { number, statedIndex, lines, oldLines, isForEmptyFile: false }
}

/** How many old and new lines a body has. */
export function countLines(body: readonly string[]): { old: number; new: number } {
  let old = 0
  let added = 0
  for (const line of body) {
    if (line.startsWith('\\')) continue
    if (!line.startsWith('+')) old += 1
    if (!line.startsWith('-')) added += 1
  }
  return { old, new: added }
}

/**
 * Whether text behind the counted lines of a hunk may be context that lost its blank. A hunk with old lines fits without
 * it; one that only adds lines would rely on its line number alone.
 */
export function mayContinue(lines: readonly string[], from: number, oldCount: number): boolean {
  const next = lines[from] ?? ''
  if (/^(?:@@|`{3}|~{3}|\*\*\* |diff |Index:|={10}|---\s)/u.test(next)) return false
  if (next.trim() !== '') return true
  if (oldCount > 0) return false
  for (let index = from; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line.trim() !== '') return !line.startsWith('@@')
  }
  return false
}

/**
 * The names in the lines outside the hunks. Undefined when the parser skipped lines that look like a part of a hunk, or
 * silently corrected a count.
 */
function strayNames(
  lines: readonly string[],
  { hunks }: StructuredPatch,
): readonly string[] | undefined {
  const names: string[] = []
  let number = 0
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line.startsWith('@@')) {
      const body = hunks[number]?.lines ?? []
      number += 1
      const counts = countLines(body)
      const [, , old = '1', added = '1'] = hunkHeader.exec(line) ?? []
      if (counts.old !== Number(old) || counts.new !== Number(added)) return undefined
      index += body.length
      if (mayContinue(lines, index + 1, counts.old)) return undefined
    } else if (number > 0 && /^(?:[+-]|\s+\S)/u.test(line)) {
      return undefined
    } else {
      const name = extendedHeaderName(line)
      if (name !== undefined) names.push(name)
    }
  }
  return names
}
