import type { Socket } from 'node:net'

/** Reads a connection piece by piece, before it is joined with another one. */
export class ByteReader {
  readonly #socket: Socket
  #bytes: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** What was received and not taken. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /** Waits for more than there is; false at the end of the stream. */
  async receive(): Promise<boolean> {
    for (;;) {
      // All of it: asked for more than there is, Node says at once, again and again, that there is something.
      const chunk = this.#socket.read() as Buffer | null
      if (chunk !== null) {
        this.#bytes = Buffer.concat([this.#bytes, chunk])
        return true
      }
      const isOver = this.#socket.readableEnded || this.#socket.destroyed
      if (isOver || !(await isReadable(this.#socket))) return false
    }
  }

  /**
   * Takes exactly so many bytes.
   *
   * @throws Error at the end of the stream
   */
  async take(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) {
      if (!(await this.receive())) throw new Error('the connection ended')
    }
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    return taken
  }

  /** Gives back what was not taken, for the next reader of the socket. */
  giveBack(): void {
    if (this.#bytes.length > 0) this.#socket.unshift(this.#bytes)
    this.#bytes = Buffer.alloc(0)
  }
}

/** False at the end of the stream. */
function isReadable(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (more: boolean): void => {
      socket.off('readable', onReadable)
      socket.off('end', onEnd)
      socket.off('close', onEnd)
      resolve(more)
    }
    const onReadable = (): void => settle(true)
    const onEnd = (): void => settle(false)
    socket.on('readable', onReadable)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
  })
}
