import { hash } from 'node:crypto'

/** What the log sees of contents: never the contents. */
export function fingerprint(content: string): { readonly bytes: number; readonly sha256: string } {
  return { bytes: Buffer.byteLength(content), sha256: hash('sha256', content) }
}
