import { digest } from './digest.ts'

/**
 * The name-based UUID of RFC 9562 §5.5: SHA-1 over a namespace and a name, with the version and the variant set.
 *
 * Written here because the package `uuid` loads as many small files, which took a fifth of what importing the built-in
 * tools may cost; the tests compare the two.
 *
 * @param namespace 32 hexadecimal digits, without hyphens.
 */
export function uuidV5(name: string, namespace: string): string {
  const sha1 = digest('sha1', Buffer.concat([Buffer.from(namespace, 'hex'), Buffer.from(name)]))
  const variant = ((Number.parseInt(sha1.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  return [
    sha1.slice(0, 8),
    sha1.slice(8, 12),
    `5${sha1.slice(13, 16)}`,
    `${variant}${sha1.slice(17, 20)}`,
    sha1.slice(20, 32),
  ].join('-')
}
