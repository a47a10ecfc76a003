import { isAbsolute, posix, relative } from 'node:path'
import type { SandboxFiles } from '@smithers/sandbox'
import { SmithersError } from '@smithers/tool-core'
import { applyHunks } from './unified-diff.ts'
import { parseUnifiedDiff } from './unified-diff-parse.ts'

/**
 * Applies a unified diff to a file in one step: read, patched and replaced under its lock. The file is as it was when
 * anything is refused.
 */
export async function editFile(
  files: SandboxFiles,
  {
    path,
    patch,
    maxBytes,
  }: { readonly path: string; readonly patch: string; readonly maxBytes: number },
): Promise<void> {
  const hunks = await parseUnifiedDiff(patch, namesOf(path, files))
  await files.updateText(
    path,
    (before) => {
      const after = applyHunks(before, hunks, path)
      const bytes = Buffer.byteLength(after)
      if (bytes > maxBytes) throw resultTooLarge(path, bytes, maxBytes)
      return after
    },
    { maxBytes },
  )
}

/** What the headers of a patch may call a file: as it was given, and as seen from the root. */
function namesOf(path: string, { rootDir }: SandboxFiles): readonly string[] {
  const fromRoot = isAbsolute(path) ? relative(rootDir, path) : path
  return [posix.normalize(path), posix.normalize(fromRoot.replaceAll('\\', '/'))]
}

function resultTooLarge(path: string, bytes: number, maxBytes: number): SmithersError {
  return new SmithersError(
    'TOOL_CONTENT_TOO_LARGE',
    `Content too large: the patched ${JSON.stringify(path)} would have ${bytes} bytes, the limit is ${maxBytes}. Nothing was changed.`,
    { details: { path, bytes, maxBytes }, effect: 'none' },
  )
}
