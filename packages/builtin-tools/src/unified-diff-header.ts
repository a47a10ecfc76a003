import type { StructuredPatch } from 'diff'
import { patchFailed, quoteLine } from './unified-diff-error.ts'

/** Checks that the header of a patch changes this file, and only its contents. */
export function checkHeader(file: StructuredPatch, paths: readonly string[]): void {
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
    `its header names ${quoteLine(name)}, but the path is ${quoteLine(paths[0])}. Pass the path of that file, or correct the header.`,
    { logReason: 'its header names another file.' },
  )
}

/** Checks a line outside the hunks for changes other than contents. */
export function checkExtendedHeader(line: string, paths: readonly string[]): void {
  if (isModeLine(line)) throw modeChange()
  if (/^\*\*\* (?:(?:Add|Delete) File|Move to):/u.test(line)) throw notAChange()
  const name = /^(?:\*\*\* Update File|Index):(.*)$/su.exec(line)?.[1]?.trim()
  if (name !== undefined && name !== '') checkName(name, paths)
}

export function isModeLine(line: string): boolean {
  return /^(?:old|new) mode \d{6}\s*$/u.test(line)
}

export function modeChange(): Error {
  return patchFailed(
    'it changes the mode of the file. edit only changes contents: remove the lines "old mode" and "new mode", and use chmod through bash.',
  )
}

const dateAtEnd = /\s\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?$/u

/** Fits " 2024-01-01 00:00:00.123456789 +0000". */
const maxDateLength = 48

/** Searches the end only: matching from each of many blanks would take quadratic time. */
function withoutDate(name: string): string {
  const end = name.slice(-maxDateLength)
  const date = dateAtEnd.exec(end)
  return date === null ? name : name.slice(0, date.index - end.length).trimEnd()
}

/**
 * Whether a header's name is one of these paths: alone, behind the `a/` and `b/` that git writes (which may take the
 * place of the first slash), or before a date that a space and not a tab divides from it.
 */
function isNameOf(name: string, paths: readonly string[]): boolean {
  return [name, withoutDate(name)].some((written) => {
    const bare = written.replace(/^[abciow]\//u, '')
    const spellings = bare === written ? [written] : [written, bare, `/${bare}`]
    return spellings.some((spelling) => paths.includes(tidy(spelling)))
  })
}

/** Without what changes nothing. `..` stays, and matches nothing: nobody can say from where it leads. */
function tidy(name: string): string {
  return name.replaceAll(/\/{2,}/gu, '/').replace(/^(?:\.\/)+/u, '')
}

export function notAChange(): Error {
  return patchFailed(
    'it creates, deletes, renames or copies a file. edit only changes the contents of an existing file; use write to create one.',
  )
}
