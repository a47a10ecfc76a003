import { cutToFit } from './cut-to-fit.ts'
import { digest, digestOfPieces } from './digest.ts'

/** Valid JSON of at most `maxBytes` that says how much there was and shows the beginning, cut between characters. */
export function truncatedJson(json: string, maxBytes: number): string {
  const bytes = Buffer.from(json)
  return envelope(bytes, { bytes: bytes.length, sha256: digest('sha256', bytes) }, maxBytes)
}

/** {@link truncatedJson} of a text as JSON, which is never in memory whole: it may be far larger than its record. */
export function truncatedText(text: string, maxBytes: number): string {
  const head: Buffer[] = []
  let length = 0
  const sha256 = digestOfPieces('sha256', function* () {
    for (const piece of quotedPieces(text)) {
      const bytes = Buffer.from(piece)
      // One byte more than fits shows whether a character was cut in two.
      if (length <= maxBytes) head.push(bytes)
      length += bytes.length
      yield bytes
    }
  })
  return envelope(Buffer.concat(head), { bytes: length, sha256 }, maxBytes)
}

function* quotedPieces(text: string): Generator<string> {
  yield '"'
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + pieceLength, text.length)
    // Half of a pair would be quoted as a lone surrogate.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1
    yield JSON.stringify(text.slice(from, to)).slice(1, -1)
    from = to
  }
  yield '"'
}

const pieceLength = 65_536

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function envelope(
  head: Buffer,
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
  maxBytes: number,
): string {
  return cutToFit(head, maxBytes, (cut) =>
    JSON.stringify({ $truncated: true, bytes, sha256, head: cut }),
  )
}
