import type { OutputStream } from '../../isolation/running-command.ts'
import type { Piece } from './output-segments.ts'
import { cutEnd, cutStart } from './utf8-boundary.ts'

/** Each stream has its own decoder, since the two halves of a character may have the other stream's bytes between them. */
export function decode(
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
export function fit(
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
