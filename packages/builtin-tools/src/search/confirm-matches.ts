import type { SandboxFile, SandboxFiles } from '@smithers/sandbox'
import { GuardedLines, lineChunk } from './guarded-lines.ts'
import { fromRoot, type FoundLine } from './permitted-matches.ts'

/**
 * Keeps the found lines that the files under the root really contain. Without isolation, ripgrep can be led out of the
 * root by a directory that is exchanged for a link between two of its steps; the file guard cannot.
 *
 * *Guarantees*: every line was read again through the guard, at its number in the file of its name. A line from outside
 * passes only if the file inside has the same line.
 * *Does not* show files whose names are not UTF-8, which the guard cannot open by name.
 */
export class MatchConfirmer {
  readonly #files: SandboxFiles
  readonly #maxLineBytes: number
  // One for all files: a search with thousands of matching files would leave as many for the collector.
  readonly #chunk = lineChunk()
  #path: Buffer | undefined
  #lines: GuardedLines | undefined

  constructor(files: SandboxFiles, maxLineBytes: number) {
    this.#files = files
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * Hands the confirmed lines to `keep` in order, until it returns false. Takes the lines of one file in ascending order.
   * Wait for one call before the next, and before `close`.
   *
   * @returns what `keep` returned last
   */
  async push(found: readonly FoundLine[], keep: (line: FoundLine) => boolean): Promise<boolean> {
    for (const line of found) {
      if (line.path !== this.#path) await this.#open(line.path)
      if (this.#lines === undefined || !(await isConfirmed(line, this.#lines))) continue
      if (!keep(line)) return false
    }
    return true
  }

  close(): void {
    this.#lines?.close()
    this.#lines = undefined
  }

  async #open(path: Buffer): Promise<void> {
    this.close()
    this.#path = path
    const file = await openGuarded(this.#files, path)
    if (file !== undefined) this.#lines = new GuardedLines(file, this.#maxLineBytes, this.#chunk)
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
