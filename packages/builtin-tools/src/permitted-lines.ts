const [newline, nul] = [10, 0]

/** Longer than any path; what goes on without an end is no path. */
const maxHeadBytes = 65_536

const binaryMatch = /^(.*): binary file matches \(found /u
const lineNumber = /^\d+([:-])/u

/**
 * Takes what `rg --null` prints, drops the lines of files that the policy denies, and gives the others the form
 * `path:line:text`. ripgrep's globs are another language than those of the policy, so ripgrep cannot decide.
 *
 * Guarantees that no text of a denied file comes through: a line that names no path in a known form is dropped.
 */
export class PermittedLines {
  readonly #isDenied: (path: string) => boolean
  // Lines of one file follow each other.
  #path: Buffer = Buffer.alloc(0)
  #isKept = false
  #rest: Buffer = Buffer.alloc(0)
  /** What is being read: the beginning of a line, or the text of one that is kept or dropped. */
  #state: 'head' | 'keep' | 'drop' = 'head'
  #hasGap = false
  #hasLines = false

  constructor(isDenied: (path: string) => boolean) {
    this.#isDenied = isDenied
  }

  push(bytes: Uint8Array): Buffer {
    const kept: Buffer[] = []
    let rest = Buffer.concat([this.#rest, bytes])
    while (rest.length > 0) {
      const used = this.#state === 'head' ? this.#head(rest, kept) : this.#text(rest, kept)
      if (used === 0) break
      rest = rest.subarray(used)
    }
    this.#rest = rest
    return Buffer.concat(kept)
  }

  /** Takes the rest of a line's text; returns how many bytes. */
  #text(bytes: Buffer, kept: Buffer[]): number {
    const end = bytes.indexOf(newline) + 1
    const text = end === 0 ? bytes : bytes.subarray(0, end)
    if (this.#state === 'keep') kept.push(text)
    if (end > 0) this.#state = 'head'
    return text.length
  }

  /** Takes the beginning of a line, up to its text; 0 when more has to come first. */
  #head(bytes: Buffer, kept: Buffer[]): number {
    const pathEnd = bytes.indexOf(nul)
    const lineEnd = bytes.indexOf(newline)
    if (lineEnd >= 0 && (pathEnd === -1 || lineEnd < pathEnd)) {
      const line = bytes.subarray(0, lineEnd + 1)
      if (this.#withoutPath(line, kept)) return line.length
    }
    const found = pathEnd === -1 ? null : lineNumber.exec(latin1(bytes, pathEnd + 1, 24))
    if (found === null) {
      if (bytes.length <= maxHeadBytes) return 0
      this.#state = 'drop'
      return bytes.length
    }
    this.#state = this.#permits(bytes.subarray(0, pathEnd)) ? 'keep' : 'drop'
    if (this.#state === 'keep') this.#keep(kept, this.#path, Buffer.from(`${found[1]}${found[0]}`))
    return pathEnd + 1 + found[0].length
  }

  /** A line that ripgrep prints without a NUL; false for the first part of a path that contains a newline. */
  #withoutPath(line: Buffer, kept: Buffer[]): boolean {
    if (line.equals(gap)) {
      this.#hasGap = true
      return true
    }
    // Bytes that are no text stay what they are: the path is compared, not shown.
    const path = binaryMatch.exec(line.toString('utf8'))?.[1]
    if (path === undefined) return false
    if (this.#permits(Buffer.from(path))) this.#keep(kept, line)
    return true
  }

  #keep(kept: Buffer[], ...parts: readonly Buffer[]): void {
    // Where a denied file stood between two gaps, or first, one gap or none is left.
    if (this.#hasGap && this.#hasLines) kept.push(gap)
    this.#hasGap = false
    this.#hasLines = true
    kept.push(...parts)
  }

  #permits(path: Buffer): boolean {
    if (!path.equals(this.#path)) {
      this.#path = Buffer.from(path)
      const text = path.toString('utf8')
      // With a newline in it, this may be a line of another form and then a path: each reading has to be permitted.
      this.#isKept = text
        .split('\n')
        .every(
          (_, index, lines) => !this.#isDenied(lines.slice(index).join('\n').replace(/^\.\//u, '')),
        )
    }
    return this.#isKept
  }
}

const gap = Buffer.from('--\n')

function latin1(bytes: Buffer, start: number, length: number): string {
  return bytes.toString('latin1', start, start + length)
}
