import type { StructuredPatch } from 'diff'
import type { PatchTarget } from './patch-target.ts'
import { patchFailed, quoteLine } from './unified-diff-error.ts'

/** Checks that the header of a patch changes only contents, and returns the names it gives the file. */
export function headerNames(file: StructuredPatch): readonly string[] {
  const { oldFileName, newFileName, isCreate, isDelete, isRename, isCopy, isBinary } = file
  if (oldFileName === '/dev/null' || newFileName === '/dev/null') throw notAChange()
  if (isCreate === true || isDelete === true || isRename === true || isCopy === true)
    throw notAChange()
  if (isBinary === true) throw patchFailed('it is a binary patch. edit changes text.')
  return [oldFileName, newFileName].filter((name) => name !== undefined)
}

/** Checks a line outside the hunks for changes other than contents, and returns the name it gives the file, if any. */
export function extendedHeaderName(line: string): string | undefined {
  if (isModeLine(line)) throw modeChange()
  if (/^\*\*\* (?:(?:Add|Delete) File|Move to):/u.test(line)) throw notAChange()
  const name = /^(?:\*\*\* Update File|Index):(.*)$/su.exec(line)?.[1]?.trim()
  return name === '' ? undefined : name
}

/**
 * Checks that every name of a patch means the target.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export async function checkNames(names: readonly string[], target: PatchTarget): Promise<void> {
  for (const name of new Set(names)) {
    if (await target.isNamedBy(name)) continue
    throw patchFailed(
      `its header names ${quoteLine(name)}, but the path is ${quoteLine(target.path)}. Pass the path of that file, or correct the header.`,
      { logReason: 'its header names another file.' },
    )
  }
}

export function isModeLine(line: string): boolean {
  return /^(?:old|new) mode \d{6}\s*$/u.test(line)
}

export function modeChange(): Error {
  return patchFailed(
    'it changes the mode of the file. edit only changes contents: remove the lines "old mode" and "new mode", and use chmod through bash.',
  )
}

function notAChange(): Error {
  return patchFailed(
    'it creates, deletes, renames or copies a file. edit only changes the contents of an existing file; use write to create one.',
  )
}
