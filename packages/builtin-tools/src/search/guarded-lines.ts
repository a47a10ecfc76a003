import { read, readSync } from 'node:fs'
import type { SandboxFile } from '@smithers/sandbox'

const chunkBytes = 65_536
const newline = 10

/** Memory for {@link GuardedLines}, to be shared by files that are read one after the other. */
export function lineChunk(): Buffer {
  return Buffer.allocUnsafeSlow(chunkBytes)
}

/**
 * Reads lines of an open file by ascending number, as ripgrep numbers and prints them: without a byte order mark, and
 * UTF-16 as UTF-8. Keeps one chunk and one line in memory.
 */
export class GuardedLines {
  readonly #file: SandboxFile
  readonly #maxLineBytes: number
  readonly #chunk: Buffer
  #rest: Buffer = nothing
  /** The number of the first line in `#rest`. */
  #line = 1
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #isFirstChunk = true

  constructor(file: SandboxFile, maxLineBytes: number, chunk: Buffer = lineChunk()) {
    this.#file = file
    this.#maxLineBytes = maxLineBytes
    this.#chunk = chunk
  }

  /** Whether the line with this number is exactly `expected`. Call it with ascending numbers. */
  async has(number: number, expected: Buffer): Promise<boolean> {
    while (this.#line < number) {
      const end = this.#rest.indexOf(newline)
      if (end === -1) {
        this.#rest = await this.#next()
        if (this.#rest.length === 0) return false
      } else {
        this.#rest = this.#rest.subarray(end + 1)
        this.#line += 1
      }
    }
    return this.#line === number && expected.equals(await this.#current())
  }

  /** Whether the byte at an offset is NUL, which makes a file binary. */
  async hasNul(offset: number): Promise<boolean> {
    const [byte] = await readAt(this.#file, Buffer.alloc(1), offset)
    return byte === 0
  }

  close(): void {
    this.#file.close()
  }

  /** The whole current line, with its newline. Stays current, so that the next call can skip it. */
  async #current(): Promise<Buffer> {
    for (;;) {
      const end = this.#rest.indexOf(newline)
      if (end !== -1) return this.#rest.subarray(0, end + 1)
      if (this.#rest.length > this.#maxLineBytes) return this.#rest
      // The next read uses the same memory.
      const begun = Buffer.from(this.#rest)
      const more = await this.#next()
      this.#rest = more.length === 0 ? begun : Buffer.concat([begun, more])
      if (more.length === 0) return begun
    }
  }

  /** The next bytes of the file, valid until the next read; empty at its end. */
  async #next(): Promise<Buffer> {
    for (;;) {
      const bytes = await readAt(this.#file, this.#chunk, null)
      const text = this.#decode(bytes)
      // A decoder can hold back a part of a character.
      if (text.length > 0 || bytes.length === 0) return text
    }
  }

  #decode(bytes: Buffer): Buffer {
    if (this.#isFirstChunk) {
      this.#isFirstChunk = false
      const encoding = encodingOf(bytes)
      if (encoding !== undefined) this.#decoder = new TextDecoder(encoding)
      else if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3)
    }
    if (this.#decoder === undefined) return bytes
    return Buffer.from(this.#decoder.decode(bytes, { stream: bytes.length > 0 }))
  }
}

function encodingOf([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

const nothing = Buffer.alloc(0)

/**
 * Reads at a position; `null` continues after the last read. Small files are read at once: they are regular, and the way
 * through the thread pool takes longer than the read.
 */
function readAt(
  { fd, sizeBytes }: SandboxFile,
  buffer: Buffer,
  position: number | null,
): Buffer | Promise<Buffer> {
  if (sizeBytes <= chunkBytes) {
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, position))
  }
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, position, (error, count) => {
      if (error === null) resolve(buffer.subarray(0, count))
      else reject(error)
    })
  })
}
