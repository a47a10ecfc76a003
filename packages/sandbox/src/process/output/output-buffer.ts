import type { OutputStream } from '../../isolation/running-command.ts'
import { incompleteTailLength, joinHeadAndTail } from './output-text.ts'

/** What a command printed, as text; each is at most `maxOutputBytes`, with the middle of longer ones left out. */
export interface CapturedOutput {
  /** Both streams in the order in which they arrived. */
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  /** Bytes left out of `output`; 0 when it is complete. */
  readonly omittedBytes: number
}

const none: Buffer = Buffer.alloc(0)

/** Keeps the beginning and the end of a command's output in a fixed amount of memory, whatever it prints. */
export class OutputBuffer {
  readonly #both: HeadTailBuffer
  readonly #streams: Readonly<Record<OutputStream, HeadTailBuffer>>
  // The first bytes of a character whose rest has not arrived: the other stream's bytes must not come between them.
  readonly #unfinished: Record<OutputStream, Buffer> = { stdout: none, stderr: none }

  constructor(maxBytes: number) {
    this.#both = new HeadTailBuffer(maxBytes)
    this.#streams = { stdout: new HeadTailBuffer(maxBytes), stderr: new HeadTailBuffer(maxBytes) }
  }

  /** Bytes seen so far. */
  get totalBytes(): number {
    const { stdout, stderr } = this.#unfinished
    return this.#both.totalBytes + stdout.length + stderr.length
  }

  push(stream: OutputStream, chunk: Buffer): void {
    const unfinished = this.#unfinished[stream]
    const bytes = unfinished.length === 0 ? chunk : Buffer.concat([unfinished, chunk])
    const end = bytes.length - incompleteTailLength(bytes)
    this.#keep(stream, bytes.subarray(0, end))
    // Copied: the memory of a chunk is released after this call.
    this.#unfinished[stream] = end === bytes.length ? none : Buffer.from(bytes.subarray(end))
  }

  #keep(stream: OutputStream, bytes: Buffer): void {
    this.#both.push(bytes)
    this.#streams[stream].push(bytes)
  }

  /** The text of what was kept. Call it once, after the last `push`. */
  capture(): CapturedOutput {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#keep(stream, this.#unfinished[stream])
      this.#unfinished[stream] = none
    }
    const { text: output, omittedBytes } = this.#both.capture()
    const { stdout, stderr } = this.#streams
    return { output, stdout: stdout.capture().text, stderr: stderr.capture().text, omittedBytes }
  }
}

/** Keeps the first and the last bytes that it is given, half of the budget for each. */
export class HeadTailBuffer {
  /** Bytes seen, kept or not. */
  totalBytes = 0
  readonly #maxBytes: number
  readonly #headCapacity: number
  readonly #tailCapacity: number
  #head: Buffer = Buffer.alloc(0)
  #headLength = 0
  // A ring: the newest byte is just before `#tailEnd`.
  #tail: Buffer | undefined
  #tailEnd = 0
  #tailLength = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#headCapacity = Math.ceil(maxBytes / 2)
    this.#tailCapacity = maxBytes - this.#headCapacity
  }

  push(bytes: Buffer): void {
    this.totalBytes += bytes.length
    const toHead = Math.min(bytes.length, this.#headCapacity - this.#headLength)
    if (toHead > 0) this.#pushHead(bytes.subarray(0, toHead))
    if (toHead < bytes.length) this.#pushTail(bytes.subarray(toHead))
  }

  #pushHead(bytes: Buffer): void {
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
  }

  #pushTail(chunk: Buffer): void {
    const capacity = this.#tailCapacity
    const bytes = chunk.length > capacity ? chunk.subarray(chunk.length - capacity) : chunk
    if (bytes.length === 0) return
    this.#tail ??= Buffer.allocUnsafeSlow(capacity)
    const untilEnd = Math.min(bytes.length, capacity - this.#tailEnd)
    bytes.copy(this.#tail, this.#tailEnd, 0, untilEnd)
    bytes.copy(this.#tail, 0, untilEnd)
    this.#tailEnd = (this.#tailEnd + bytes.length) % capacity
    this.#tailLength = Math.min(this.#tailLength + bytes.length, capacity)
  }

  /** What was kept as text of at most the budget, and how many bytes are missing from it. */
  capture(): { readonly text: string; readonly omittedBytes: number } {
    const head = this.#head.subarray(0, this.#headLength)
    return joinHeadAndTail(head, this.#tailBytes(), this.totalBytes, this.#maxBytes)
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
}
