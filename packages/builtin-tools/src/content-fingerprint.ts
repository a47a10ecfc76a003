/** Size and hash of contents, for logs that must not store them. */
export function fingerprint(content: string): { readonly bytes: number; readonly sha256: string } {
  // Loaded on first use: importing node:crypto would take a fifth of this package's import budget.
  const { hash } = process.getBuiltinModule('node:crypto')
  return { bytes: Buffer.byteLength(content), sha256: hash('sha256', content) }
}
