import { isUtf8 } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { cutEnd, cutStart, incompleteTailLength } from './utf8-boundary.ts'

/** Where a piece of output came from. */
export type OutputStream = 'stdout' | 'stderr'

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

/** What must be known of every byte of a stream, also of those that are not kept. */
class StreamFacts {
  bytes = 0
  binary = false
  #hash: Hash | undefined
  // The beginning of a character whose end has not arrived.
  #unfinished: Buffer = Buffer.alloc(0)

  get hashing(): boolean {
    return this.#hash !== undefined
  }

  observe(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.binary) return
    const bytes = this.#unfinished.length === 0 ? chunk : Buffer.concat([this.#unfinished, chunk])
    const whole = bytes.length - incompleteTailLength(bytes)
    this.binary = bytes.includes(0) || !isUtf8(bytes.subarray(0, whole))
    this.#unfinished = Buffer.from(bytes.subarray(whole))
  }

  end(): void {
    if (this.#unfinished.length > 0) this.binary = true
  }

  startHash(): void {
    this.#hash = createHash('sha256')
  }

  hash(bytes: Buffer): void {
    this.#hash?.update(bytes)
  }

  digest(): string {
    return (this.#hash ?? createHash('sha256')).digest('hex')
  }
}

interface Piece {
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** Whose bytes stand where in a buffer: runs of one stream, oldest first. */
class SegmentQueue {
  readonly #streams: OutputStream[] = []
  readonly #lengths: number[] = []
  // Runs before this index are gone. They are removed in bulk, since removing one at a time is quadratic.
  #first = 0

  append(stream: OutputStream, length: number): void {
    const last = this.#lengths.length - 1
    if (last >= this.#first && this.#streams[last] === stream) {
      this.#lengths[last]! += length
    } else {
      this.#streams.push(stream)
      this.#lengths.push(length)
    }
  }

  dropFirst(bytes: number): void {
    let remaining = bytes
    while (remaining > 0) {
      const taken = Math.min(this.#lengths[this.#first]!, remaining)
      this.#lengths[this.#first]! -= taken
      remaining -= taken
      if (this.#lengths[this.#first] === 0) this.#first += 1
    }
    if (this.#first > 1024 && this.#first * 2 > this.#lengths.length) {
      this.#streams.splice(0, this.#first)
      this.#lengths.splice(0, this.#first)
      this.#first = 0
    }
  }

  pieces(bytes: Buffer): Piece[] {
    let start = 0
    return this.#lengths.slice(this.#first).map((length, index) => {
      const piece = {
        stream: this.#streams[this.#first + index]!,
        bytes: bytes.subarray(start, start + length),
      }
      start += length
      return piece
    })
  }
}

/** Each stream has its own decoder, since the two halves of a character may have the other stream's bytes between them. */
function decode(
  head: readonly Piece[],
  tail: readonly Piece[],
  cut: boolean,
): { head: string; tail: string } {
  const decoders = { stdout: newDecoder(), stderr: newDecoder() }
  const run = (pieces: readonly Piece[]): string =>
    pieces
      .map(({ stream, bytes }) => decoders[stream].decode(bytes, { stream: true }))
      .join('')
      .replaceAll('\0', '\uFFFD')
  if (!cut) {
    const headText = run(head)
    return { head: headText, tail: run(tail) + decoders.stdout.decode() + decoders.stderr.decode() }
  }
  const headText = run(head)
  // A character cut by the gap is left out on both sides rather than shown as damage that the command did not do.
  decoders.stdout = newDecoder()
  decoders.stderr = newDecoder()
  const started = new Set<OutputStream>()
  const tailText = run(
    tail.map((piece) => {
      if (started.has(piece.stream)) return piece
      started.add(piece.stream)
      return { ...piece, bytes: piece.bytes.subarray(leadingContinuationBytes(piece.bytes)) }
    }),
  )
  return { head: headText, tail: tailText + decoders.stdout.decode() + decoders.stderr.decode() }
}

function newDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { ignoreBOM: true })
}

function leadingContinuationBytes(bytes: Buffer): number {
  let count = 0
  while (count < 3 && count < bytes.length && (bytes[count]! & 0xc0) === 0x80) count += 1
  return count
}

/** Joins head and tail around a marker; replaced bytes may have grown the text, so both are cut to the budget once more. */
function fit(
  head: string,
  tail: string,
  total: number,
  kept: number,
  maxBytes: number,
): { text: string; omittedBytes: number } {
  const size = Buffer.byteLength(head) + Buffer.byteLength(tail)
  if (kept === total && size <= maxBytes) return { text: head + tail, omittedBytes: 0 }
  // The largest the marker can become, so that filling in the number cannot break the budget.
  const room = maxBytes - Buffer.byteLength(marker(total + size))
  // A budget too small for a marker holds the beginning only.
  if (room < 0) {
    const text = cutEnd(kept === total ? head + tail : head, maxBytes)
    return { text, omittedBytes: Math.max(total - printedBytes(text), 1) }
  }
  const tailBudget = Math.max(room - Buffer.byteLength(head), Math.floor(room / 2))
  const tailText = cutStart(tail, tailBudget)
  const headText = cutEnd(head, room - Buffer.byteLength(tailText))
  const omittedBytes = Math.max(total - printedBytes(headText) - printedBytes(tailText), 1)
  return { text: headText + marker(omittedBytes) + tailText, omittedBytes }
}

function marker(bytes: number): string {
  return `\n[… ${bytes} bytes omitted …]\n`
}

/** How many bytes of output a text stands for: a replacement character stands for one byte, and is three. */
function printedBytes(text: string): number {
  return Buffer.byteLength(text) - 2 * (text.split('\uFFFD').length - 1)
}
