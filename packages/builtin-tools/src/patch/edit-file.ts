import type { SandboxFiles } from '@smithers/sandbox'
import { SmithersError } from '@smithers/tool-core'
import { fileTarget } from './patch-target.ts'
import { applyPatchHunks, readPatch } from './patch-text.ts'
import { patchFailed } from './unified-diff-error.ts'

/**
 * Applies a patch to a file in one step: reads, patches and replaces it under its lock. Changes nothing when it
 * throws.
 */
export async function editFile(
  files: SandboxFiles,
  {
    path,
    patch,
    maxBytes,
  }: {
    readonly path: string
    readonly patch: string
    readonly maxBytes: number
  },
): Promise<void> {
  const hunks = await readPatch(patch, fileTarget(files, path))
  await files.updateText(
    path,
    (before) => {
      const after = applyPatchHunks(before, hunks, path)
      if (after === before) throw changesNothing(path)
      const bytes = Buffer.byteLength(after)
      if (bytes > maxBytes) throw resultTooLarge(path, bytes, maxBytes)
      return after
    },
    { maxBytes },
  )
}

/** Returning "ok" would suggest that the change was made. */
function changesNothing(path: string): SmithersError {
  return patchFailed(
    `it changes nothing in ${JSON.stringify(path)}: every removed line is added again. Line endings and a byte order mark cannot be changed this way.`,
    { details: { path } },
  )
}

function resultTooLarge(path: string, bytes: number, maxBytes: number): SmithersError {
  return new SmithersError(
    'TOOL_CONTENT_TOO_LARGE',
    `Content too large: the patched ${JSON.stringify(path)} would have ${bytes} bytes, the limit is ${maxBytes}. Nothing was changed.`,
    { details: { path, bytes, maxBytes }, effect: 'none' },
  )
}
