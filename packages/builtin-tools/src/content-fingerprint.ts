/** What the log sees of contents: never the contents. */
export function fingerprint(content: string): { readonly bytes: number; readonly sha256: string } {
  // Not imported: loading cryptography is a fifth of what importing this package may cost.
  const { hash } = process.getBuiltinModule('node:crypto')
  return { bytes: Buffer.byteLength(content), sha256: hash('sha256', content) }
}
