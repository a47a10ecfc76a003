import type { FoundLine } from './permitted-matches.ts'

/** What a search returns of its matches. */
export interface ResultShape {
  /** Matching lines, the paths of files with matches, or those paths with the number of matching lines. */
  readonly mode: 'lines' | 'files' | 'count'
  /** Most matching lines, or most files in the other modes. */
  readonly limit: number
  /** Bytes shown of one line. */
  readonly maxLineBytes: number
}

/** Turns found lines into the lines of a result, and stops at its limit. */
export class ShapedMatches {
  readonly #shape: ResultShape
  readonly #push: (printed: Uint8Array) => boolean
  #taken = 0
  #path: Buffer | undefined
  #inPath = 0
  #isCut = false

  constructor(shape: ResultShape, push: (printed: Uint8Array) => boolean) {
    this.#shape = shape
    this.#push = push
  }

  /** Takes the lines of one file after those of another. Returns false when no more are needed. */
  take(line: FoundLine): boolean {
    const { mode, limit } = this.#shape
    if (mode !== 'lines') return this.#count(line)
    if (line.kind === 'match') this.#taken += 1
    if (this.#taken > limit) return this.#stop()
    return this.#push(this.#capped(line))
  }

  /** Ends the last file. Returns a note when the limit left something out. */
  end(): string | undefined {
    this.#endPath()
    if (!this.#isCut) return undefined
    const { mode, limit } = this.#shape
    const what = mode === 'lines' ? 'matching lines' : 'files'
    return `[… stopped at the limit of ${limit} ${what}; more follow. Narrow the search, or raise limit.]`
  }

  #count(line: FoundLine): boolean {
    if (line.kind === 'context') return true
    if (this.#path?.equals(line.path) !== true) {
      if (!this.#endPath()) return false
      if (this.#taken >= this.#shape.limit) return this.#stop()
      this.#taken += 1
      this.#path = line.path
    }
    this.#inPath += 1
    return true
  }

  #endPath(): boolean {
    const [path, count] = [this.#path, this.#inPath]
    this.#path = undefined
    this.#inPath = 0
    if (path === undefined) return true
    const ending = this.#shape.mode === 'count' ? `:${count}\n` : '\n'
    return this.#push(Buffer.concat([path, Buffer.from(ending)]))
  }

  #stop(): false {
    this.#isCut = true
    return false
  }

  #capped({ printed, path }: FoundLine): Uint8Array {
    const most = path.length + this.#shape.maxLineBytes
    if (printed.length <= most) return printed
    let end = most
    // Not within a character.
    while (end > 0 && ((printed[end] ?? 0) & 0xc0) === 0x80) end -= 1
    const rest = printed.length - end
    return Buffer.concat([printed.subarray(0, end), Buffer.from(`… [${rest} more bytes]\n`)])
  }
}
