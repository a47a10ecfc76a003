import type { StructuredPatch } from 'diff'
import { patchFailed, quoteLine } from './unified-diff-error.ts'

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
  if (file === undefined || files.every(({ hunks }) => hunks.length === 0)) throw withoutHunks(file)
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
  return { number, statedIndex, lines, oldLines: lines.filter((line) => line.operation !== '+') }
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

function withoutHunks(file: StructuredPatch | undefined): Error {
  if (file?.isRename === true || file?.isCopy === true || file?.isDelete === true)
    return notAChange()
  return patchFailed(`it has no hunk. Write a unified diff with hunks like ${exampleHeader}.`)
}

function notAChange(): Error {
  return patchFailed(
    'it creates, deletes, renames or copies a file. edit only changes the contents of an existing file; use write to create one.',
  )
}

function checkHeader(file: StructuredPatch, paths: readonly string[]): void {
  const { oldFileName, newFileName, isCreate, isDelete, isRename, isCopy, isBinary } = file
  if (oldFileName === '/dev/null' || newFileName === '/dev/null') throw notAChange()
  if (isCreate === true || isDelete === true || isRename === true || isCopy === true)
    throw notAChange()
  if (isBinary === true) throw patchFailed('it is a binary patch. edit changes text.')
  for (const name of [oldFileName, newFileName]) {
    if (name !== undefined) checkName(name, paths)
  }
}

function checkName(name: string, paths: readonly string[]): void {
  if (isNameOf(name.trim(), paths)) return
  throw patchFailed(
    `its header names ${quoteLine(name)}, but the path is ${quoteLine(paths[0])}. Send the patch to the file that it is for, or correct the header.`,
    { logReason: 'its header names another file.' },
  )
}

/** Checks a line outside of hunks that asks for something besides them. */
function checkExtendedHeader(line: string, paths: readonly string[]): void {
  if (/^(?:old|new) mode \d{6}\s*$/u.test(line)) {
    throw patchFailed(
      'it changes the mode of the file. edit only changes contents: remove the lines "old mode" and "new mode", and use chmod through bash.',
    )
  }
  if (/^\*\*\* (?:(?:Add|Delete) File|Move to):/u.test(line)) throw notAChange()
  const name = /^(?:\*\*\* Update File|Index):(.*)$/su.exec(line)?.[1]?.trim()
  if (name !== undefined && name !== '') checkName(name, paths)
}

const dateAtEnd = /\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?$/u

/**
 * Whether a header's name is one of these paths: alone, behind the `a/` and `b/` that git writes (which may take the
 * place of the first slash), or before a date that a space and not a tab divides from it.
 */
function isNameOf(name: string, paths: readonly string[]): boolean {
  return [name, name.replace(dateAtEnd, '')].some((written) => {
    const bare = written.replace(/^[abciow]\//u, '')
    const spellings = bare === written ? [written] : [written, bare, `/${bare}`]
    return spellings.some((spelling) => paths.includes(tidy(spelling)))
  })
}

/** Without what changes nothing. `..` stays, and matches nothing: nobody can say from where it leads. */
function tidy(name: string): string {
  return name.replaceAll(/\/{2,}/gu, '/').replace(/^(?:\.\/)+/u, '')
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
