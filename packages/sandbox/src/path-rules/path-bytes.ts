/**
 * Names that are not valid UTF-8, as strings: each byte from 0x80 on as the lone surrogate U+DC00 + byte, which no text
 * that came from a file system or a caller's UTF-8 holds. So such a name can be listed, compared and mounted.
 */
export function decodeName(bytes: Buffer): string {
  const text = bytes.toString()
  if (!text.includes(replacement) || Buffer.from(text).equals(bytes)) return text
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join(
    '',
  )
}

/** The bytes of text in which {@link decodeName} may have put bytes. */
export function encodeNames(text: string): Buffer {
  const parts: Buffer[] = []
  let start = 0
  for (const { index } of text.matchAll(escapedByte)) {
    parts.push(Buffer.from(text.slice(start, index)), Buffer.of(text.charCodeAt(index) - 0xdc00))
    start = index + 1
  }
  parts.push(Buffer.from(text.slice(start)))
  return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)
}

/** {@link encodeNames} of each text. */
export function encodeEach(texts: readonly string[]): Buffer[] {
  return texts.map(encodeNames)
}

/** A path for `node:fs`: bytes only where it needs them. */
export function pathOfName(text: string): string | Buffer {
  return text.search(escapedByte) < 0 ? text : encodeNames(text)
}

/** What Node puts where a name is not valid UTF-8. */
export const replacement = '\uFFFD'

const escapedByte = /(?<![\uD800-\uDBFF])[\uDC80-\uDCFF]/g
