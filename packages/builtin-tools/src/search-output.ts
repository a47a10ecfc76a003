import type { OutputChunk, SandboxFiles } from '@smithers/sandbox'
import { MatchConfirmer } from './confirm-matches.ts'
import { LineCollector } from './line-collector.ts'
import { type FoundLine, PermittedMatches } from './permitted-matches.ts'

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
}

/** Collects what a search prints, as far as it may be shown, until the limit is reached. */
export class SearchOutput {
  readonly matches: LineCollector
  readonly messages: LineCollector = new LineCollector(maxMessageBytes, 'rg: ')
  readonly #full = new AbortController()
  readonly #isConfined: boolean
  readonly #permitted: PermittedMatches | undefined
  readonly #confirmer: MatchConfirmer
  #confirming: Promise<void> | undefined

  constructor({ files, isConfined, isJson, hasContext, maxOutputBytes }: SearchOutputOptions) {
    this.matches = new LineCollector(maxOutputBytes, './')
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
      this.#keep(bytes)
    } else if (this.#isConfined) {
      this.#keep(Buffer.concat(found.map(({ printed }) => printed)))
    } else {
      this.#confirming = this.#confirm(found)
      return this.#confirming
    }
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

  readonly #keep = (printed: Uint8Array): boolean => {
    const hasRoom = !this.#full.signal.aborted && this.matches.push(printed)
    if (!hasRoom) this.#full.abort()
    return hasRoom
  }
}
