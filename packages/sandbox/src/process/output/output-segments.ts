import type { OutputStream } from '../../isolation/running-command.ts'

/** Bytes that came from one stream without a break. */
export interface Piece {
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** Whose bytes stand where in a buffer: runs of one stream, oldest first. */
export class SegmentQueue {
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
