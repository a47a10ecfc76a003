import type { SandboxFile, SandboxFiles } from '@smithers/sandbox'
import { GuardedLines } from './guarded-lines.ts'
import { fromRoot, type FoundLine } from './permitted-matches.ts'

/**
 * Yields the lines that the files under the root really contain. Without isolation, ripgrep can be led out of the root
 * by a directory that is exchanged for a link between two of its steps; the file guard cannot.
 *
 * *Guarantees*: every line was read again through the guard, at its number in the file of its name. A line from outside
 * passes only if the file inside has the same line.
 * *Does not* show files whose names are not UTF-8, which the guard cannot open by name.
 */
export async function* confirmMatches(
  files: SandboxFiles,
  found: readonly FoundLine[],
  maxLineBytes: number,
): AsyncGenerator<FoundLine, void, void> {
  let path: Buffer | undefined
  let lines: GuardedLines | undefined
  try {
    for (const line of found) {
      if (line.path !== path) {
        path = line.path
        lines?.close()
        const file = await openGuarded(files, path)
        lines = file === undefined ? undefined : new GuardedLines(file, maxLineBytes)
      }
      if (lines !== undefined && (await isConfirmed(line, lines))) yield line
    }
  } finally {
    lines?.close()
  }
}

async function openGuarded(files: SandboxFiles, path: Buffer): Promise<SandboxFile | undefined> {
  try {
    return await files.open(fromRoot(path))
  } catch {
    // Missing, denied, not a file, or outside: nothing of it may be shown.
    return undefined
  }
}

function isConfirmed({ source }: FoundLine, lines: GuardedLines): boolean | Promise<boolean> {
  if (source === undefined) return true
  return 'line' in source ? lines.has(source.line, source.text) : lines.hasNul(source.nulOffset)
}
