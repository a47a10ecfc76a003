import { characterEnd } from './character-end.ts'

/** The longest head of `bytes` with which the envelope keeps within `maxBytes`; the empty one when none does. */
export function cutToFit(
  bytes: Buffer,
  maxBytes: number,
  envelope: (head: string) => string,
): string {
  let room = maxBytes - Buffer.byteLength(envelope(''))
  let text = envelope('')
  // Quotes in the head double when it becomes a JSON string, so the first cut may be too long; each round halves it.
  while (room > 0) {
    const candidate = envelope(headOf(bytes, room))
    const excess = Buffer.byteLength(candidate) - maxBytes
    if (excess <= 0) {
      text = candidate
      break
    }
    room = Math.min(room - excess, Math.floor(room * 0.9))
  }
  return text
}

/** The first `length` bytes, less what would cut a character in two. */
function headOf(bytes: Buffer, length: number): string {
  return bytes.toString('utf8', 0, characterEnd(bytes, length))
}
