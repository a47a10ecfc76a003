import type { BinaryLike } from 'node:crypto'

// Not imported: loading `node:crypto` would be half of what importing this package costs, for programs that call no tool.
let loaded: typeof import('node:crypto') | undefined

function nodeCrypto(): typeof import('node:crypto') {
  return (loaded ??= process.getBuiltinModule('node:crypto'))
}

/** The digest of text (as UTF-8) or bytes, in hexadecimal digits. */
export function digest(
  algorithm: 'sha1' | 'sha256',
  data: string | NodeJS.ArrayBufferView,
): string {
  return nodeCrypto().hash(algorithm, data)
}

/** The digest of bytes that come in pieces. */
export function digestOfPieces(
  algorithm: 'sha256',
  pieces: () => Iterable<NodeJS.ArrayBufferView>,
): string {
  const hash = nodeCrypto().createHash(algorithm)
  for (const piece of pieces()) hash.update(piece)
  return hash.digest('hex')
}

/** The SHA-256 HMAC of text, in hexadecimal digits. */
export function keyedDigest(secret: BinaryLike, text: string): string {
  return nodeCrypto().createHmac('sha256', secret).update(text).digest('hex')
}

/**
 * The name-based UUID of RFC 9562 §5.5: SHA-1 over a namespace and a name, with the version and the variant set.
 *
 * Written here because the package `uuid` loads as many small files, which took a fifth of what importing the built-in
 * tools may cost; the tests compare the two.
 *
 * @param namespace 32 hexadecimal digits, without hyphens.
 */
export function uuidV5(name: string, namespace: string): string {
  const bytes = Buffer.allocUnsafe(16 + name.length * 3)
  const length = bytes.write(namespace, 0, 'hex') + bytes.write(name, 16)
  const sha1 = digest('sha1', bytes.subarray(0, length))
  const variant = ((Number.parseInt(sha1.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  return [
    sha1.slice(0, 8),
    sha1.slice(8, 12),
    `5${sha1.slice(13, 16)}`,
    `${variant}${sha1.slice(17, 20)}`,
    sha1.slice(20, 32),
  ].join('-')
}
