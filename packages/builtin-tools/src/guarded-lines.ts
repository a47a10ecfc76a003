import { read } from 'node:fs'
import type { SandboxFile } from '@smithers/sandbox'

const chunkBytes = 65_536
const newline = 10

/**
 * Reads lines of an open file by ascending number, as ripgrep numbers and prints them: without a byte order mark, and
 * UTF-16 as UTF-8. Keeps one chunk and one line in memory.
 */
export class GuardedLines {
  readonly #file: SandboxFile
  readonly #maxLineBytes: number
  readonly #chunk: Buffer = Buffer.allocUnsafeSlow(chunkBytes)
  #rest: Buffer = Buffer.alloc(0)
  /** The number of the first line in `#rest`. */
  #line = 1
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #isFirstChunk = true

  constructor(file: SandboxFile, maxLineBytes: number) {
    this.#file = file
    this.#maxLineBytes = maxLineBytes
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
    const [byte] = await readAt(this.#file.fd, Buffer.alloc(1), offset)
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
      const more = await this.#next()
      if (more.length === 0) return this.#rest
      this.#rest = Buffer.concat([this.#rest, more])
    }
  }

  /** The next bytes of the file, empty at its end. */
  async #next(): Promise<Buffer> {
    for (;;) {
      const bytes = Buffer.from(await readAt(this.#file.fd, this.#chunk, null))
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

/** Reads at a position; `null` continues after the last read. */
function readAt(fd: number, buffer: Buffer, position: number | null): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.length, position, (error, count) => {
      if (error === null) resolve(buffer.subarray(0, count))
      else reject(error)
    })
  })
}
