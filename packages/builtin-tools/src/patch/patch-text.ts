import { isSmithersError } from '@smithers/tool-core'
import { appliedAlready } from './applied-already.ts'
import { withoutSignature } from './fenced-text.ts'
import type { Hunk, LooseHunk } from './hunk.ts'
import { splitLines } from './line-search.ts'
import { parseLooseDiff } from './loose-diff-parse.ts'
import { placeLooseHunks } from './loose-placement.ts'
import type { PatchTarget } from './patch-target.ts'
import { applyHunks } from './unified-diff.ts'
import { alreadyApplied } from './unified-diff-error.ts'
import { checkNames } from './unified-diff-header.ts'
import { parseUnifiedDiff } from './unified-diff-parse.ts'

/** The hunks of a patch for one file. */
export type PatchHunks =
  | { readonly isExact: true; readonly hunks: readonly Hunk[] }
  | { readonly isExact: false; readonly hunks: readonly LooseHunk[] }

// Loaded with the first edit: the package takes several milliseconds to import.
let diffModule: Promise<typeof import('diff')> | undefined

/**
 * Reads a patch: as a unified diff, else as anything that can be read in one way only.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`
 */
export async function readPatch(patch: string, target: PatchTarget): Promise<PatchHunks> {
  diffModule ??= import('diff')
  const { parsePatch } = await diffModule
  const text = withoutSignature(patch)
  // What looks like a signature is a removed line where the counts include it.
  const counted = text === patch ? undefined : parseUnifiedDiff(patch, parsePatch)
  const exact = counted ?? parseUnifiedDiff(text, parsePatch)
  if (exact !== undefined) {
    await checkNames(exact.names, target)
    return { isExact: true, hunks: exact.hunks }
  }
  const loose = parseLooseDiff(text, parsePatch)
  await checkNames(loose.names, target)
  return { isExact: false, hunks: loose.hunks }
}

/**
 * Applies a patch to a text. Every hunk must fit at the line of its header, or at one position only.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`, `TOOL_PATCH_ALREADY_APPLIED`
 */
export function applyPatchHunks(text: string, patch: PatchHunks, path: string): string {
  if (!patch.isExact) return applyLoosely(text, patch.hunks, path)
  try {
    return applyHunks(text, patch.hunks, path)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return applyLoosely(text, patch.hunks.map(loosened), path, error)
  }
}

/** Throws `refusal`, when given, in place of its own. */
function applyLoosely(
  text: string,
  hunks: readonly LooseHunk[],
  path: string,
  refusal?: Error,
): string {
  const file = splitLines(text)
  try {
    return applyHunks(text, placeLooseHunks(file, hunks, path), path)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const lines = appliedAlready(file, hunks)
    throw lines === undefined ? (refusal ?? error) : alreadyApplied(path, lines)
  }
}

function isRefusal(error: unknown): error is Error {
  return isSmithersError(error) && error.code === 'TOOL_PATCH_FAILED'
}

/** The hunk of a well-formed diff, whose context lines may have lost their leading blank. */
function loosened(hunk: Hunk): LooseHunk {
  const lines = hunk.lines.map((line) =>
    line.operation === ' ' ? { ...line, unmarked: ` ${line.content}` } : line,
  )
  const oldLines = lines.filter(({ operation }) => operation !== '+')
  return { ...hunk, lines, oldLines, isCounted: true, anchors: [], endsWithFile: false }
}
