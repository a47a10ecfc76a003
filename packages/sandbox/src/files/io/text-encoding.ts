import { isUtf8 } from 'node:buffer'
import { shownValue } from '../../options/read-options.ts'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { quotePath } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'

/**
 * Decodes the text of a file, without a byte order mark.
 *
 * @throws `TOOL_FILE_NOT_TEXT` for bytes that are not UTF-8: a replacement character would look like text and damage the
 *   file when written back.
 */
export function decodeText(bytes: Buffer, path: string): string {
  if (!isUtf8(bytes)) throw notText(bytes, path)
  return bytes.toString('utf8', hasByteOrderMark(bytes) ? 3 : 0)
}

/** Encodes a changed text as {@link toBytesForNow} does, with the byte order mark of the original bytes. */
export function encodeText(text: string, original: Uint8Array): Uint8Array {
  const bytes = toBytesForNow(text)
  return typeof text === 'string' && hasByteOrderMark(original)
    ? Buffer.concat([original.subarray(0, 3), bytes])
    : bytes
}

/**
 * The bytes of new contents, or of a piece of them. Refuses other values from untyped callers: written as an empty file,
 * they would erase the old contents.
 *
 * @throws SandboxError `INVALID_INPUT` for text that UTF-8 cannot encode, and for values that are neither text nor bytes
 */
export function toBytes(content: string | ArrayBufferView): Uint8Array {
  if (content instanceof Uint8Array) return content
  if (typeof content === 'string') return textBytes(content)
  if (ArrayBuffer.isView(content)) {
    return new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
  }
  throw new SandboxError(
    'INVALID_INPUT',
    `The contents of a file must be a string or a Uint8Array, got ${shownValue(content)}. ${adviceFor(content)}`,
    { effect: 'none' },
  )
}

function adviceFor(content: unknown): string {
  if (content instanceof Promise) return 'Await the promise and pass its value.'
  if (content instanceof ArrayBuffer) return 'Pass new Uint8Array(buffer).'
  if (content instanceof Blob) return 'Pass await blob.bytes(), or blob.stream() to write.'
  return 'Nothing was changed.'
}

function textBytes(text: string): Uint8Array {
  assertWellFormed(text)
  return Buffer.from(text)
}

function assertWellFormed(text: string): void {
  if (text.isWellFormed()) return
  const index = text.search(/\p{Surrogate}/u)
  throw new SandboxError(
    'INVALID_INPUT',
    `The text contains half of a Unicode character pair (at index ${index}), which UTF-8 cannot encode. Write whole characters, or bytes.`,
    { details: { index }, effect: 'none' },
  )
}

/**
 * {@link toBytes} for a write that begins in the same step. A text becomes bytes in memory that the next call uses
 * again, unless it is longer than what is written in that step: to get new memory takes as long as to write.
 */
export function toBytesForNow(content: string | ArrayBufferView): Uint8Array {
  if (typeof content !== 'string' || content.length > fileLimits.maxSynchronousBytes) {
    return toBytes(content)
  }
  assertWellFormed(content)
  forNow ??= Buffer.allocUnsafeSlow(fileLimits.maxSynchronousBytes)
  const length = forNow.write(content)
  // Less room than a character needs may be left only because the text did not fit.
  return length > forNow.length - 4 ? Buffer.from(content) : forNow.subarray(0, length)
}

let forNow: Buffer | undefined

export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function notText(bytes: Uint8Array, path: string, totalBytes: number = bytes.length): SandboxError {
  const looksLike = describeBytes(bytes)
  return new SandboxError(
    'TOOL_FILE_NOT_TEXT',
    `${quotePath(path)} is not UTF-8 text: ${totalBytes} bytes that look like ${looksLike}. It was not changed; use a command that understands this format.`,
    { details: { path, bytes: totalBytes, looksLike }, effect: 'none' },
  )
}

const signatures: readonly (readonly [string, readonly number[]])[] = [
  ['UTF-32 text', [0xff, 0xfe, 0, 0]],
  ['UTF-16 text (little endian)', [0xff, 0xfe]],
  ['UTF-16 text (big endian)', [0xfe, 0xff]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a PDF document', [0x25, 0x50, 0x44, 0x46]],
  ['a zip archive', [0x50, 0x4b, 0x03, 0x04]],
  ['gzip data', [0x1f, 0x8b]],
  ['zstandard data', [0x28, 0xb5, 0x2f, 0xfd]],
  ['xz data', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['an ELF program', [0x7f, 0x45, 0x4c, 0x46]],
  ['WebAssembly', [0x00, 0x61, 0x73, 0x6d]],
  ['a SQLite database', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20]],
]

/** The probable format of bytes that are not UTF-8. */
function describeBytes(bytes: Uint8Array): string {
  for (const [name, signature] of signatures) {
    if (signature.every((byte, index) => bytes[index] === byte)) return name
  }
  const sample = bytes.subarray(0, 4096)
  const zeros = sample.filter((byte) => byte === 0).length
  if (zeros > 0) return zeros * 3 > sample.length ? 'UTF-16 text or binary data' : 'binary data'
  const controls = sample.filter(
    (byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13,
  )
  return controls.length * 20 > sample.length
    ? 'binary data'
    : 'text in a single-byte encoding such as Latin-1'
}
