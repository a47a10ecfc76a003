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

/** The SHA-256 HMAC of text, in hexadecimal digits. */
export function keyedDigest(secret: BinaryLike, text: string): string {
  return nodeCrypto().createHmac('sha256', secret).update(text).digest('hex')
}
