import type { StructuredPatch } from 'diff'
import { hunkHeader, type HunkLine, type LooseHunk } from './hunk.ts'
import { withoutFence } from './fenced-text.ts'
import { checkOutside } from './outside-text.ts'
import { bareHunkStart, isFilePair, linesOutside } from './unified-diff-body.ts'
import { patchFailed, quoteLine } from './unified-diff-error.ts'
import { extendedHeaderName, headerNames, isModeLine, modeChange } from './unified-diff-header.ts'
import { countLines, mayContinue, type ParsedPatch } from './unified-diff-parse.ts'

/** A hunk while its lines are read. */
interface Draft {
  /** The match of its header, when it has numbers. */
  numbers: RegExpExecArray | undefined
  readonly anchors: string[]
  readonly body: string[]
  endsWithFile: boolean
}

type ParsePatch = typeof import('diff').parsePatch

/**
 * Parses the patch of one file as models write it: with wrong counts, without numbers or headers, as `*** Begin Patch`,
 * between Markdown fences. The lines decide: each belongs to a hunk, names a file, or is prose in front of the change.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED` for anything that can be read in several ways or is not a change of contents
 */
export function parseLooseDiff(patch: string, parsePatch: ParsePatch): ParsedPatch<LooseHunk> {
  const lines = withoutFence(patch.replace(/\n$/u, '').split('\n'))
  const firstHeader = lines.findIndex((line) => line.startsWith('@@'))
  const start = bareHunkStart(lines) ?? (firstHeader === -1 ? lines.length : firstHeader)
  const names = namesIn(lines.slice(0, start), parsePatch)
  checkOutside(linesOutside(lines, start))
  const drafts = draftsIn(lines.slice(start), names, start)
  if (!drafts.some(({ body }) => body.some((line) => /^[+-]/u.test(line)))) {
    throw drafts.length === 0 ? withoutHunks(lines) : withoutChange()
  }
  const hunks = drafts.map((draft, index) => hunkOf(draft, index + 1))
  const [first] = hunks
  if (first !== undefined && hunks.length === 1 && names.length > 0) {
    const isForEmptyFile = lines.some((line) => line.startsWith('@@ -0,0 '))
    hunks[0] = { ...first, isForEmptyFile }
  }
  return { names, hunks }
}

/** The names in the lines before the first hunk, which the parser of well-formed patches reads. */
function namesIn(lines: readonly string[], parsePatch: ParsePatch): string[] {
  let files: readonly StructuredPatch[]
  try {
    files = parsePatch([...lines, '@@ -1 +1 @@', '-', '+', ''].join('\n'))
  } catch {
    throw patchFailed(
      'its header is incomplete. Write "--- path" and "+++ path" in two lines, or leave both out.',
    )
  }
  const [file, ...others] = files
  if (file === undefined || others.length > 0) throw severalFiles()
  const extended = lines.map(extendedHeaderName).filter((name) => name !== undefined)
  return [...headerNames(file), ...extended]
}

/** Reads the hunks from the first one on, and adds the names in between to `names`. */
function draftsIn(lines: readonly string[], names: string[], before: number): readonly Draft[] {
  const drafts: Draft[] = []
  let current: Draft | undefined
  const begin = (numbers?: RegExpExecArray): Draft => {
    const draft = { numbers, anchors: [], body: [], endsWithFile: false }
    drafts.push(draft)
    return draft
  }
  if (lines.length > 0 && lines[0]?.startsWith('@@') !== true) current = begin()
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('@@')) {
      const numbers = hunkHeader.exec(line) ?? undefined
      const isEmpty = current !== undefined && current.body.length === 0
      if (isEmpty && current?.numbers !== undefined) throw emptyHunk(drafts.length)
      // Headers without lines between them narrow the position step by step.
      if (current === undefined || !isEmpty) current = begin(numbers)
      current.numbers = numbers
      current.anchors.push(...anchorsOf(line))
    } else if (line.startsWith('diff --git ') || beginsFile(lines, index)) {
      throw severalFiles()
    } else if (line.startsWith('*** ') || (current === undefined && line.startsWith('Index:'))) {
      if (/^\*\*\* End of File\s*$/u.test(line) && current !== undefined)
        current.endsWithFile = true
      const name = extendedHeaderName(line)
      if (name !== undefined) names.push(name)
      // A part of "*** Update File" may begin without a header.
      current = line.startsWith('*** Update File:') ? begin() : undefined
    } else if (current !== undefined) {
      current.body.push(line)
    } else if (/^(?:[+-]|\s+\S)/u.test(line)) {
      throw outside(line, before + index)
    }
  }
  if (current?.body.length === 0) throw emptyHunk(drafts.length)
  return drafts
}

/** Whether the header of another file begins here. A removed line `-- x` before an added `++ y` looks like one. */
function beginsFile(lines: readonly string[], index: number): boolean {
  return isFilePair(lines, index) && lines[index + 2]?.startsWith('@@') !== false
}

/** What a header says beside its numbers. */
function anchorsOf(header: string): readonly string[] {
  const text = header.replace(hunkHeader, '').replaceAll(/^@@|@@\s*$/gu, '')
  return text.trim() === '' ? [] : [text.trim()]
}

function hunkOf({ numbers, anchors, body, endsWithFile }: Draft, number: number): LooseHunk {
  const [, start, old = '1', added = '1'] = numbers ?? []
  const counted = countedBody(body, Number(old), Number(added))
  const used = (numbers === undefined ? undefined : counted) ?? withoutBlankEnd(body)
  const lines = linesOf(used)
  if (lines.length === 0) throw emptyHunk(number)
  // The number before an insertion without context is that of the line above.
  const firstLine = Number(start) - (Number(old) === 0 ? 0 : 1)
  return {
    number,
    statedIndex: start === undefined ? undefined : firstLine,
    isCounted: numbers !== undefined && counted !== undefined,
    anchors,
    endsWithFile,
    lines,
    oldLines: lines.filter(({ operation }) => operation !== '+'),
    isForEmptyFile: false,
  }
}

/** The first lines that have the counts of the header, when only blank lines and prose follow. */
function countedBody(
  body: readonly string[],
  old: number,
  added: number,
): readonly string[] | undefined {
  let missing = { old, added }
  let length = 0
  while (length < body.length && (missing.old > 0 || missing.added > 0)) {
    const counts = countLines(body.slice(length, length + 1))
    missing = { old: missing.old - counts.old, added: missing.added - counts.new }
    length += 1
  }
  if (missing.old !== 0 || missing.added !== 0) return undefined
  if (body[length]?.startsWith('\\') === true) length += 1
  if (mayContinue(body, length, old)) return undefined
  return body.slice(length).some((line) => /^(?:[+\\-]|\s+\S)/u.test(line))
    ? undefined
    : body.slice(0, length)
}

/** Empty lines at the end separate the hunk from what follows. As context they would add nothing to the change. */
function withoutBlankEnd(body: readonly string[]): readonly string[] {
  let end = body.length
  while (end > 0 && body[end - 1]?.trim() === '' && !/^[ \t]/u.test(body[end - 1] ?? '')) end -= 1
  return body.slice(0, end)
}

function linesOf(body: readonly string[]): readonly HunkLine[] {
  const lines: HunkLine[] = []
  for (const [index, text] of body.entries()) {
    if (text.startsWith('\\')) continue
    const endsFile = body[index + 1]?.startsWith('\\') === true
    if (text.startsWith('-') || text.startsWith('+')) {
      lines.push({ operation: text.startsWith('-') ? '-' : '+', content: text.slice(1), endsFile })
    } else if (text.startsWith(' ')) {
      lines.push({ operation: ' ', content: text.slice(1), endsFile, unmarked: text })
    } else {
      lines.push({ operation: ' ', content: text, endsFile })
    }
  }
  return lines
}

function severalFiles(): Error {
  return patchFailed(
    'it changes more than one file. Send one patch for each file, each to its own path.',
  )
}

function withoutHunks(lines: readonly string[]): Error {
  if (lines.some(isModeLine)) return modeChange()
  return patchFailed(
    'it has no hunk. Write the lines to remove with "-" and the lines to add with "+", with unchanged lines around them.',
  )
}

function withoutChange(): Error {
  return patchFailed('no line of it begins with "+" or "-", so it changes nothing.')
}

function emptyHunk(number: number): Error {
  return patchFailed(`hunk ${number} has a header and no lines.`, { details: { hunk: number } })
}

function outside(line: string, index: number): Error {
  const where = `line ${index + 1} of the patch is outside of any hunk`
  return patchFailed(`${where}: ${quoteLine(line)}. Put it into a hunk.`, {
    logReason: `${where}.`,
    details: { patchLine: index + 1 },
  })
}
