import { isUtf8 } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { incompleteTailLength } from './utf8-boundary.ts'

/** What must be known of every byte of a stream, also of those that are not kept. */
export class StreamFacts {
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
