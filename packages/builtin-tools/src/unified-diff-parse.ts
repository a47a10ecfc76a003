import type { StructuredPatch } from 'diff'
import { patchFailed, quoteLine } from './unified-diff-error.ts'
import {
  checkExtendedHeader,
  checkHeader,
  isModeLine,
  modeChange,
  notAChange,
} from './unified-diff-header.ts'

/** One line of a hunk. */
export interface HunkLine {
  readonly operation: ' ' | '-' | '+'
  /** Without the operation and the newline; a carriage return stays. */
  readonly content: string
  /** The patch says that no newline follows: the line ends its file. */
  readonly endsFile: boolean
}

/** One hunk, checked: its counts are true. */
export interface Hunk {
  /** From 1. */
  readonly number: number
  /** Where the patch says that its old lines begin, from 0. */
  readonly statedIndex: number
  readonly lines: readonly HunkLine[]
  /** The lines that must stand in the file: context and removed ones. */
  readonly oldLines: readonly HunkLine[]
  /** Part of a patch with file headers, its old side is empty and begins at line 0: for git, a file without a line. */
  readonly isForEmptyFile: boolean
}

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/u
const exampleHeader = '"@@ -12,3 +12,4 @@"'

// Loaded on the first edit: the package costs several milliseconds to import.
let diffModule: Promise<typeof import('diff')> | undefined

function loadDiff(): Promise<typeof import('diff')> {
  diffModule ??= import('diff')
  return diffModule
}

/**
 * The hunks of a unified diff for one existing file, parsed by `diff` and then held to what that parser lets pass: text
 * that it skips may be a part of the change that somebody meant.
 *
 * @param paths what the headers may call the file
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export async function parseUnifiedDiff(
  patch: string,
  paths: readonly string[],
): Promise<readonly Hunk[]> {
  const { parsePatch } = await loadDiff()
  return checkedHunks(withoutSignature(patch), paths, parsePatch)
}

/** "-- " and a version end a patch that git wrote for mail; the parser takes them for a removed line. */
function withoutSignature(patch: string): string {
  return patch.replace(/\n-- \n\d[\w. ()-]*\n*$/u, '\n')
}

function checkedHunks(
  patch: string,
  paths: readonly string[],
  parsePatch: typeof import('diff').parsePatch,
): readonly Hunk[] {
  const lines = patch.split('\n')
  checkHunkHeaders(lines)
  let files: readonly StructuredPatch[]
  try {
    files = parsePatch(patch)
  } catch (error) {
    throw malformed(lines, error)
  }
  const [file, ...others] = files
  if (file === undefined || files.every(({ hunks }) => hunks.length === 0)) {
    throw withoutHunks(lines, file)
  }
  if (others.length > 0) {
    throw patchFailed(
      'it changes more than one file. Send one patch for each file, each to its own path.',
    )
  }
  checkHeader(file, paths)
  checkStrayLines(lines, file, paths)
  const hunks = file.hunks.map(({ oldStart, lines: body }, index) =>
    hunk(index + 1, oldStart - 1, body),
  )
  const [first] = hunks
  if (first !== undefined && hunks.length === 1 && file.oldFileName !== undefined) {
    hunks[0] = { ...first, isForEmptyFile: lines.some((line) => line.startsWith('@@ -0,0 ')) }
  }
  if (hunks.every((each) => each.lines.every(({ operation }) => operation === ' '))) {
    throw patchFailed('no line of it begins with "+" or "-", so it changes nothing.')
  }
  return hunks
}

function hunk(number: number, statedIndex: number, body: readonly string[]): Hunk {
  const lines: HunkLine[] = []
  for (const [index, text] of body.entries()) {
    const operation = text[0] ?? ' '
    // "\ No newline at end of file" speaks of the line before it.
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

/** `diff` takes `@@` without numbers for prose, and would leave that part of the change out. */
function checkHunkHeaders(lines: readonly string[]): void {
  let number = 0
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('@@')) continue
    number += 1
    if (hunkHeader.test(line)) continue
    const where = `hunk ${number} (line ${index + 1} of the patch) has a malformed header`
    throw patchFailed(`${where}: ${quoteLine(line)}. Write it like ${exampleHeader}.`, {
      logReason: `${where}.`,
      details: { hunk: number, patchLine: index + 1 },
    })
  }
}

/** What the parser refused, with the number of the hunk and what a recount of it gives. */
function malformed(lines: readonly string[], error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error)
  const line = Number(/ line (\d+)/u.exec(said)?.[1] ?? 0)
  const number = lines.slice(0, line).filter((each) => each.startsWith('@@')).length
  const where =
    number === 0 ? 'it is malformed' : `hunk ${number} (line ${line} of the patch) is malformed`
  const header = lines[line - 1] ?? ''
  const reason = number > 0 && hunkHeader.test(header) ? recounted(lines, line, header) : `${said}.`
  // The parser's error is no cause to keep: it quotes the patch, and causes are logged.
  return patchFailed(`${where}. ${reason}`, {
    logReason: `${where}.`,
    details: { hunk: number, patchLine: line },
  })
}

function recounted(lines: readonly string[], headerLine: number, header: string): string {
  const rest = lines.slice(headerLine)
  const end = rest.findIndex((line) => !/^[ +\-\\]/u.test(line))
  const counts = countLines(rest.slice(0, end === -1 ? rest.length : end))
  return mismatch(header, counts)
}

function countLines(body: readonly string[]): { old: number; new: number } {
  let old = 0
  let added = 0
  for (const line of body) {
    if (line.startsWith('\\')) continue
    if (!line.startsWith('+')) old += 1
    if (!line.startsWith('-')) added += 1
  }
  return { old, new: added }
}

function mismatch(header: string, counts: { readonly old: number; readonly new: number }): string {
  const [, old = '1', added = '1'] = hunkHeader.exec(header) ?? []
  return `Its header announces ${old} old and ${added} new lines; it has ${counts.old} old and ${counts.new} new ones. Every line begins with " ", "-" or "+".`
}

function withoutHunks(lines: readonly string[], file: StructuredPatch | undefined): Error {
  if (file?.isRename === true || file?.isCopy === true || file?.isDelete === true)
    return notAChange()
  if (lines.some(isModeLine)) return modeChange()
  return patchFailed(`it has no hunk. Write a unified diff with hunks like ${exampleHeader}.`)
}

/** Finds what the parser skipped although it looks like a part of a hunk, and counts that it corrected by itself. */
function checkStrayLines(
  lines: readonly string[],
  { hunks }: StructuredPatch,
  paths: readonly string[],
): void {
  let number = 0
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line.startsWith('@@')) {
      const body = hunks[number]?.lines ?? []
      number += 1
      const counts = countLines(body)
      const [, old = '1', added = '1'] = hunkHeader.exec(line) ?? []
      if (counts.old !== Number(old) || counts.new !== Number(added)) {
        throw patchFailed(`hunk ${number} is malformed. ${mismatch(line, counts)}`, {
          details: { hunk: number, patchLine: index + 1 },
        })
      }
      index += body.length
    } else if (number > 0 && /^(?:[+-]|\s+\S)/u.test(line)) {
      const where = `line ${index + 1} of the patch is outside of hunk ${number}`
      throw patchFailed(
        `${where}: ${quoteLine(line)}. Put it into a hunk, whose header counts its lines.`,
        { logReason: `${where}.`, details: { hunk: number, patchLine: index + 1 } },
      )
    } else checkExtendedHeader(line, paths)
  }
}
