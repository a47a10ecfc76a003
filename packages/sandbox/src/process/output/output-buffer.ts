import type { OutputStream } from '../../isolation/running-command.ts'
import { type Piece, SegmentQueue } from './output-segments.ts'
import { decode, fit } from './output-text.ts'
import { StreamFacts } from './stream-digest.ts'

/** What a command printed, within the byte budget. */
export interface CapturedOutput {
  /** Both streams in the order in which they arrived; never more bytes than the budget. */
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  /** Bytes printed, kept or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Bytes left out of `output`. */
  readonly omittedBytes: number
  /** True when a stream held a NUL or was not UTF-8; such bytes read `\uFFFD` in the text. */
  readonly binary: boolean
  /** SHA-256 of all bytes of each stream that was not text, in hexadecimal. */
  readonly sha256: Readonly<Partial<Record<OutputStream, string>>>
}

/**
 * Keeps the first and the last bytes of a command's output in a fixed amount of memory, whatever it prints: one budget
 * for both streams, half for the head and half for the tail, in the order of arrival.
 */
export class OutputBuffer {
  readonly #maxBytes: number
  readonly #headCapacity: number
  readonly #tailCapacity: number
  #head: Buffer = Buffer.alloc(0)
  #headLength = 0
  readonly #headSegments = new SegmentQueue()
  // A ring: the newest byte stands just before `#tailEnd`.
  #tail: Buffer | undefined
  #tailEnd = 0
  #tailLength = 0
  readonly #tailSegments = new SegmentQueue()
  #omitted = 0
  readonly #streams: Readonly<Record<OutputStream, StreamFacts>>

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#headCapacity = Math.ceil(maxBytes / 2)
    this.#tailCapacity = maxBytes - this.#headCapacity
    this.#streams = { stdout: new StreamFacts(), stderr: new StreamFacts() }
  }

  /** Bytes seen so far. */
  get totalBytes(): number {
    return this.#streams.stdout.bytes + this.#streams.stderr.bytes
  }

  push(stream: OutputStream, chunk: Buffer): void {
    if (chunk.length === 0) return
    const facts = this.#streams[stream]
    facts.observe(chunk)
    const overflows = this.totalBytes > this.#maxBytes
    // A hash needs every byte from the first one, so it starts just before the first byte is let go.
    if (overflows && !this.#streams.stdout.hashing) this.#startHashing()
    if (overflows) facts.hash(chunk)
    const toHead = Math.min(chunk.length, this.#headCapacity - this.#headLength)
    if (toHead > 0) this.#pushHead(stream, chunk.subarray(0, toHead))
    if (toHead < chunk.length) this.#pushTail(stream, chunk.subarray(toHead))
  }

  #pushHead(stream: OutputStream, bytes: Buffer): void {
    const needed = this.#headLength + bytes.length
    if (needed > this.#head.length) {
      // Copied into a buffer of our own: a slice of a pipe's chunk would keep all of its 64 KiB alive.
      const grown = Buffer.allocUnsafeSlow(
        Math.min(this.#headCapacity, Math.max(needed, this.#head.length * 2, 1024)),
      )
      this.#head.copy(grown, 0, 0, this.#headLength)
      this.#head = grown
    }
    bytes.copy(this.#head, this.#headLength)
    this.#headLength = needed
    this.#headSegments.append(stream, bytes.length)
  }

  #pushTail(stream: OutputStream, chunk: Buffer): void {
    const capacity = this.#tailCapacity
    const bytes = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk
    this.#omitted += chunk.length - bytes.length
    if (bytes.length === 0) return
    this.#tail ??= Buffer.allocUnsafeSlow(capacity)
    const excess = this.#tailLength + bytes.length - capacity
    if (excess > 0) {
      this.#omitted += excess
      this.#tailLength -= excess
      this.#tailSegments.dropFirst(excess)
    }
    const untilEnd = Math.min(bytes.length, capacity - this.#tailEnd)
    bytes.copy(this.#tail, this.#tailEnd, 0, untilEnd)
    bytes.copy(this.#tail, 0, untilEnd)
    this.#tailEnd = (this.#tailEnd + bytes.length) % capacity
    this.#tailLength += bytes.length
    this.#tailSegments.append(stream, bytes.length)
  }

  #startHashing(): void {
    this.#streams.stdout.startHash()
    this.#streams.stderr.startHash()
    for (const { stream, bytes } of this.#kept()) this.#streams[stream].hash(bytes)
  }

  #kept(): Piece[] {
    return [
      ...this.#headSegments.pieces(this.#headBytes()),
      ...this.#tailSegments.pieces(this.#tailBytes()),
    ]
  }

  #headBytes(): Buffer {
    return this.#head.subarray(0, this.#headLength)
  }

  #tailBytes(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0)
    const start = this.#tailEnd - this.#tailLength
    return start >= 0
      ? this.#tail.subarray(start, this.#tailEnd)
      : Buffer.concat([
          this.#tail.subarray(start + this.#tailCapacity),
          this.#tail.subarray(0, this.#tailEnd),
        ])
  }

  /** The text of what was kept. Call it once, after the last `push`. */
  capture(): CapturedOutput {
    for (const facts of Object.values(this.#streams)) facts.end()
    const { stdout, stderr } = this.#streams
    const cut = this.#omitted > 0
    if (!cut && (stdout.binary || stderr.binary)) this.#startHashing()
    const head = this.#headSegments.pieces(this.#headBytes())
    const tail = this.#tailSegments.pieces(this.#tailBytes())
    const text = (only?: OutputStream): { text: string; omittedBytes: number } => {
      const of = (pieces: readonly Piece[]): readonly Piece[] =>
        only === undefined ? pieces : pieces.filter((piece) => piece.stream === only)
      const kept = [...of(head), ...of(tail)].reduce((sum, piece) => sum + piece.bytes.length, 0)
      const total = only === undefined ? this.totalBytes : this.#streams[only].bytes
      const parts = decode(of(head), of(tail), total > kept)
      return fit(parts.head, parts.tail, total, kept, this.#maxBytes)
    }
    const both = text()
    return {
      output: both.text,
      stdout: text('stdout').text,
      stderr: text('stderr').text,
      stdoutBytes: stdout.bytes,
      stderrBytes: stderr.bytes,
      omittedBytes: both.omittedBytes,
      binary: stdout.binary || stderr.binary,
      sha256: {
        ...(stdout.binary ? { stdout: stdout.digest() } : {}),
        ...(stderr.binary ? { stderr: stderr.digest() } : {}),
      },
    }
  }
}
