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
export function cutEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = Math.max(maxBytes, 0)
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}

/** The longest end of `text` that is whole characters and at most `maxBytes` of UTF-8. */
export function cutStart(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - Math.max(maxBytes, 0)
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1
  return bytes.toString('utf8', start)
}
