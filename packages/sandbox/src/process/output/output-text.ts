/**
 * The text of the beginning and the end of some output. Where bytes are missing between them, a marker says how many.
 * NUL and bytes that are not UTF-8 read `\uFFFD`.
 */
export function joinHeadAndTail(
  head: Buffer,
  tail: Buffer,
  totalBytes: number,
  maxBytes: number,
): { readonly text: string; readonly omittedBytes: number } {
  const isComplete = head.length + tail.length === totalBytes
  if (isComplete) {
    const text = decode(Buffer.concat([head, tail]))
    if (Buffer.byteLength(text) <= maxBytes) return { text, omittedBytes: 0 }
    // Replaced bytes have made the text longer than the output was.
    return fit(text, '', { totalBytes, maxBytes, isComplete })
  }
  // A character cut by the gap is left out on both sides: showing it as invalid would be wrong.
  const headText = decode(head.subarray(0, head.length - incompleteTailLength(head)))
  const tailText = decode(tail.subarray(leadingContinuationBytes(tail)))
  return fit(headText, tailText, { totalBytes, maxBytes, isComplete })
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function decode(bytes: Buffer): string {
  return decoder.decode(bytes).replaceAll('\0', '\uFFFD')
}

function leadingContinuationBytes(bytes: Buffer): number {
  let count = 0
  while (count < 3 && count < bytes.length && (bytes[count]! & 0xc0) === 0x80) count += 1
  return count
}

interface Budget {
  readonly totalBytes: number
  readonly maxBytes: number
  readonly isComplete: boolean
}

/** Joins head and tail around a marker, both cut once more to the budget. */
function fit(
  head: string,
  tail: string,
  { totalBytes, maxBytes, isComplete }: Budget,
): { readonly text: string; readonly omittedBytes: number } {
  const size = Buffer.byteLength(head) + Buffer.byteLength(tail)
  // The largest the marker can become, so that filling in the number cannot break the budget.
  const room = maxBytes - Buffer.byteLength(marker(totalBytes + size))
  // A budget too small for a marker holds the beginning only.
  if (room < 0) {
    const text = cutEnd(head, maxBytes)
    return { text, omittedBytes: Math.max(totalBytes - printedBytes(text), 1) }
  }
  const [first, last] = isComplete ? [head, head] : [head, tail]
  const tailBudget = Math.max(
    isComplete ? 0 : room - Buffer.byteLength(first),
    Math.floor(room / 2),
  )
  const tailText = cutStart(last, tailBudget)
  const headText = cutEnd(first, room - Buffer.byteLength(tailText))
  const omittedBytes = Math.max(totalBytes - printedBytes(headText) - printedBytes(tailText), 1)
  return { text: headText + marker(omittedBytes) + tailText, omittedBytes }
}

function marker(bytes: number): string {
  return `\n[… ${bytes} bytes omitted …]\n`
}

/** How many bytes of output a text came from: a replacement character is three bytes and replaces one. */
function printedBytes(text: string): number {
  return Buffer.byteLength(text) - 2 * (text.split('\uFFFD').length - 1)
}

/** How many bytes at the end of `bytes` are the beginning of a character that is not complete: 0 to 3. */
export function incompleteTailLength(bytes: Uint8Array): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length]!
    if ((byte & 0xc0) === 0x80) continue
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return wanted > length ? length : 0
  }
  return 0
}

/** The longest beginning of `text` that is whole characters and at most `maxBytes` of UTF-8. */
function cutEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = Math.max(maxBytes, 0)
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** The longest end of `text` that is whole characters and at most `maxBytes` of UTF-8. */
function cutStart(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - Math.max(maxBytes, 0)
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1
  return bytes.toString('utf8', start)
}
