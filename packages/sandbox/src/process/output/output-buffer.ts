import type { OutputStream } from '../../isolation/running-command.ts'
import { HeadTailBuffer } from './head-tail-buffer.ts'
import { incompleteTailLength } from './utf8-boundary.ts'

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
