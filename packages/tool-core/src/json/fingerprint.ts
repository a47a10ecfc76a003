import { digest } from './digest.ts'

/** Size and hash of a text. */
export interface Fingerprint {
  /** Bytes as UTF-8. */
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

/**
 * Returns the size and SHA-256 of a text as UTF-8: what `logInput` and `logOutput` can record of contents that the log
 * must not store.
 *
 * @example
 * logInput: ({ path, content }) => ({ path, content: fingerprint(content) })
 */
export function fingerprint(text: string): Fingerprint {
  // A tool that checks the size of a text asks in the same turn as its `logInput`.
  if (last?.text === text) return last.print
  const print = fingerprintOf(text)
  if (text.length >= shortestKept) {
    if (last === undefined) queueMicrotask(forget)
    last = { text, print }
  }
  return print
}

const shortestKept = 512
let last: { readonly text: string; readonly print: Fingerprint } | undefined

function forget(): void {
  last = undefined
}

function fingerprintOf(text: string): Fingerprint {
  if (text.length <= scratchBytes) {
    // To encode a long text into bytes that exist is faster than to count its bytes.
    scratch ??= Buffer.allocUnsafeSlow(scratchBytes)
    const bytes = scratch.write(text)
    // Less room than a character needs may be left only because the text did not fit.
    if (bytes <= scratchBytes - 4) {
      return { bytes, sha256: digest('sha256', scratch.subarray(0, bytes)) }
    }
  }
  return { bytes: Buffer.byteLength(text), sha256: digest('sha256', text) }
}

const scratchBytes = 262_144
let scratch: Buffer | undefined
