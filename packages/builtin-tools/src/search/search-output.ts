import type { OutputChunk, SandboxFiles } from '@smithers/sandbox'
import { MatchConfirmer } from './confirm-matches.ts'
import { LineCollector } from './line-collector.ts'
import { type FoundLine, PermittedMatches } from './permitted-matches.ts'
import { type ResultShape, ShapedMatches } from './shaped-matches.ts'

/** Bytes of ripgrep's own messages to show. */
export const maxMessageBytes = 4_000

/** Bytes of a line that can be confirmed; longer ones are not shown. */
const maxLineBytes = 16 * 1024 * 1024

export interface SearchOutputOptions {
  readonly files: SandboxFiles
  /** Whether isolation keeps ripgrep in the root. Its output is confirmed by the file guard otherwise. */
  readonly isConfined: boolean
  /** Whether ripgrep prints JSON. */
  readonly isJson: boolean
  /** Whether context lines were requested. */
  readonly hasContext: boolean
  readonly maxOutputBytes: number
  readonly shape: ResultShape
}

/** Collects what a search prints, as far as it may be shown, until the limit is reached. */
export class SearchOutput {
  readonly matches: LineCollector
  readonly #shaped: ShapedMatches
  readonly messages: LineCollector = new LineCollector(maxMessageBytes, 'rg: ')
  readonly #full = new AbortController()
  readonly #isConfined: boolean
  readonly #permitted: PermittedMatches | undefined
  readonly #confirmer: MatchConfirmer
  #confirming: Promise<void> | undefined

  constructor(options: SearchOutputOptions) {
    const { files, isConfined, isJson, hasContext, maxOutputBytes, shape } = options
    this.matches = new LineCollector(maxOutputBytes, './')
    this.#shaped = new ShapedMatches(shape, (printed) => this.matches.push(printed))
    this.#isConfined = isConfined
    const isDenied = (relativePath: string): boolean => files.isDenied(relativePath)
    this.#permitted = isJson ? new PermittedMatches({ isDenied, hasContext }) : undefined
    this.#confirmer = new MatchConfirmer(files, maxLineBytes)
  }

  /** Aborts when the limit is reached. */
  get full(): AbortSignal {
    return this.#full.signal
  }

  /** Takes a piece of output. ripgrep waits for the promise, so that no more lines are confirmed than can be shown. */
  readonly take = ({ stream, bytes }: OutputChunk): void | Promise<void> => {
    if (stream === 'stderr') {
      this.messages.push(bytes)
      return
    }
    const found = this.#permitted?.push(bytes)
    if (found === undefined) {
      if (this.#full.signal.aborted || !this.matches.push(bytes)) this.#full.abort()
    } else if (this.#isConfined) {
      for (const line of found) if (!this.#keep(line)) break
    } else {
      this.#confirming = this.#confirm(found)
      return this.#confirming
    }
  }

  /** Files that ripgrep searched, where it says so. */
  get searchedFiles(): number | undefined {
    return this.#permitted?.searchedFiles
  }

  /** The result; call it once, after {@link close}. */
  text(): string {
    const note = this.#shaped.end()
    return note === undefined ? this.matches.text() : this.matches.textWithNote(note)
  }

  /** Waits for what is being confirmed, and closes the last file. */
  async close(): Promise<void> {
    try {
      await this.#confirming
    } catch {
      // The search has failed with this error already.
    } finally {
      this.#confirmer.close()
    }
  }

  async #confirm(found: readonly FoundLine[]): Promise<void> {
    await this.#confirmer.push(found, this.#keep)
  }

  readonly #keep = (line: FoundLine): boolean => {
    const hasRoom = !this.#full.signal.aborted && this.#shaped.take(line)
    if (!hasRoom) this.#full.abort()
    return hasRoom
  }
}
