import type { StructuredPatch } from 'diff'
import type { PatchTarget } from './patch-target.ts'
import { patchFailed, quoteLine } from './unified-diff-error.ts'
import {
  checkNames,
  extendedHeaderName,
  headerNames,
  isModeLine,
  modeChange,
  notAChange,
} from './unified-diff-header.ts'

/** One line of a hunk. */
export interface HunkLine {
  readonly operation: ' ' | '-' | '+'
  /** Without the operation and the newline, but with a carriage return. */
  readonly content: string
  /** The patch marks the line as the last one, without a newline. */
  readonly endsFile: boolean
}

/** One hunk whose counts have been checked. */
export interface Hunk {
  /** From 1. */
  readonly number: number
  /** The index of its first old line according to the header, from 0. */
  readonly statedIndex: number
  readonly lines: readonly HunkLine[]
  /** The lines that must be in the file: context and removed lines. */
  readonly oldLines: readonly HunkLine[]
  /** Its old side is empty and starts at line 0, in a patch with file headers: git's form for an empty file. */
  readonly isForEmptyFile: boolean
}

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/u
const exampleHeader = '"@@ -12,3 +12,4 @@"'

// Loaded with the first edit: the package takes several milliseconds to import.
let diffModule: Promise<typeof import('diff')> | undefined

function loadDiff(): Promise<typeof import('diff')> {
  diffModule ??= import('diff')
  return diffModule
}

/**
 * Parses a unified diff for one existing file. `diff` does the parsing; the checks afterwards refuse text that it skips,
 * which may be part of the intended change.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export async function parseUnifiedDiff(
  patch: string,
  target: PatchTarget,
): Promise<readonly Hunk[]> {
  const { parsePatch } = await loadDiff()
  const { names, hunks } = checkedPatch(withoutSignature(patch), parsePatch)
  await checkNames(names, target)
  return hunks
}

/** git ends mailed patches with "-- " and its version, which the parser would take for a removed line. */
function withoutSignature(patch: string): string {
  return patch.replace(/\n-- \n\d[\w. ()-]*\n*$/u, '\n')
}

interface CheckedPatch {
  /** The names that its headers give the file. */
  readonly names: readonly string[]
  readonly hunks: readonly Hunk[]
}

function checkedPatch(patch: string, parsePatch: typeof import('diff').parsePatch): CheckedPatch {
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
  const names = [...headerNames(file), ...strayNames(lines, file)]
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
  return { names, hunks }
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

/** `diff` ignores `@@` without numbers, and would drop that part of the change. */
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

/** The error for a patch that the parser refused, with the hunk number and its actual line counts. */
function malformed(lines: readonly string[], error: unknown): Error {
  const said = error instanceof Error ? error.message : String(error)
  const line = Number(/ line (\d+)/u.exec(said)?.[1] ?? 0)
  const number = lines.slice(0, line).filter((each) => each.startsWith('@@')).length
  const where =
    number === 0 ? 'it is malformed' : `hunk ${number} (line ${line} of the patch) is malformed`
  const header = lines[line - 1] ?? ''
  const reason = number > 0 && hunkHeader.test(header) ? recounted(lines, line, header) : `${said}.`
  // Drop the parser's error: it quotes the patch, and causes are logged.
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

/**
 * Refuses lines that the parser skipped although they look like hunk lines, and counts that it silently corrected.
 * Returns the names in the other lines outside the hunks.
 */
function strayNames(lines: readonly string[], { hunks }: StructuredPatch): readonly string[] {
  const names: string[] = []
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
        `${where}: ${quoteLine(line)}. Put it into a hunk and count it in the header.`,
        { logReason: `${where}.`, details: { hunk: number, patchLine: index + 1 } },
      )
    } else {
      const name = extendedHeaderName(line)
      if (name !== undefined) names.push(name)
    }
  }
  return names
}
