import { Writable } from 'node:stream'

/** Standard output for the protocol alone. */
export interface ProtocolOutput {
  readonly stream: Writable
  /** Gives standard output back. */
  release(): void
}

/**
 * Takes standard output for the protocol: what anything else in this process writes to it, such as `console.log` of a
 * tool, goes to standard error. Does not cover native code and child processes that inherit the descriptor.
 */
export function takeStandardOutput(): ProtocolOutput {
  const own = Object.getOwnPropertyDescriptor(process.stdout, 'write')
  const write = process.stdout.write.bind(process.stdout)
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error)),
  })
  // Each answer that waits for a slow reader listens.
  stream.setMaxListeners(0)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    stream,
    release() {
      if (own === undefined) Reflect.deleteProperty(process.stdout, 'write')
      else Object.defineProperty(process.stdout, 'write', own)
    },
  }
}
