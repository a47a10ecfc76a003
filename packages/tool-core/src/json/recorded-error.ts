import { cutToFit } from './cut-to-fit.ts'
import { describeError } from './describe-error.ts'
import { type RecordedJson, recordJson } from './recorded-json.ts'
import type { Redaction } from './redaction.ts'

/** An error as the log stores it. */
export interface RecordedError extends RecordedJson {
  readonly json: string
}

/** Serialises an error for the log: name, code, message, details and cause; the stack only when asked. */
export function recordError(
  error: unknown,
  redaction: Redaction,
  options: { readonly stacks: boolean; readonly maxBytes: number; readonly effect: string },
): RecordedError {
  const { stacks, maxBytes, effect } = options
  const plain = { ...describeError(error, stacks, 0), effect }
  const { json: whole, exact } = recordJson(plain, redaction, Number.POSITIVE_INFINITY)
  const json = whole ?? 'null'
  if (Buffer.byteLength(json) <= maxBytes) return { json, exact }
  // What programs decide on survives the limit; only the text is cut.
  const { name, code, message } = JSON.parse(json) as Record<string, unknown>
  const bytes = Buffer.byteLength(json)
  const cut = cutToFit(Buffer.from(String(message)), maxBytes, (head) =>
    JSON.stringify({ name, code, message: head, effect, $truncated: true, bytes }),
  )
  return { json: cut, exact: false }
}
