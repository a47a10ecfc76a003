import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toBytes } from '../files/io/text-encoding.ts'

/** What a command reads from standard input. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>

/** Writes the input and ends it. `onFailure` gets what the caller's own source threw, and no other error. */
export function feed(
  stdin: Writable | null,
  input: CommandInput | undefined,
  onFailure: (error: unknown) => void,
): void {
  if (stdin === null || input === undefined) return
  // A command that does not read its input closes the pipe; that is its right (EPIPE).
  stdin.on('error', () => {})
  if (typeof input === 'string' || input instanceof Uint8Array) stdin.end(input)
  else pipeline(piecesOf(input, onFailure), stdin).catch(() => stdin.destroy())
}

/** The pieces of a source. Its failure is reported, unlike the pipe's: half of an input must not pass for all of it. */
async function* piecesOf(
  input: AsyncIterable<string | Uint8Array>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const piece of input) yield toBytes(piece)
  } catch (error) {
    onFailure(error)
    throw error
  }
}
