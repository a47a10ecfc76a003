import { isSmithersError, SmithersError } from '../errors/smithers-error.ts'
import { readRecordedJson } from '../json/read-recorded-json.ts'
import type { RecordedError } from '../json/recorded-error.ts'
import { recordJson } from '../json/recorded-json.ts'
import type { Redaction } from '../json/redaction.ts'

/**
 * What subscribers of the events may see of an error: the error itself when the log shows all of it, else a stand-in
 * made of what the log shows. An error may say more to the model than to the log, such as lines of a file, and clients
 * leave whole requests in theirs, with their headers.
 */
export function visibleError(error: unknown, recorded: RecordedError, redact: Redaction): unknown {
  return recorded.exact && canBeSeen(error, redact) ? error : standIn(error, recorded.json)
}

function canBeSeen(error: unknown, redact: Redaction): boolean {
  try {
    return showsNothingHidden(error, redact, 0)
  } catch {
    // A getter of its cause throws.
    return false
  }
}

function showsNothingHidden(error: unknown, redact: Redaction, depth: number): boolean {
  if (depth > 4) return false
  if (!(error instanceof Error)) return recordJson(error, redact, Infinity).exact
  const { message, stack, cause } = error
  const fields: Record<string, unknown> = { ...(error as object), message, stack }
  delete fields['cause']
  if (typeof fields['logMessage'] === 'string') return false
  if (!recordJson(fields, redact, Infinity).exact) return false
  return cause === undefined || showsNothingHidden(cause, redact, depth + 1)
}

function standIn(error: unknown, errorJson: string): Error {
  const { name, code, message, details, stack, cause } = readRecordedJson(errorJson) as Readonly<
    Record<string, unknown>
  >
  const text = String(message)
  const options = cause === undefined ? {} : { cause }
  const stand = isSmithersError(error)
    ? new SmithersError(error.code, text, {
        ...options,
        details: details as Readonly<Record<string, unknown>>,
        ...(error.effect && { effect: error.effect }),
      })
    : Object.assign(new Error(text, options), {
        name: String(name),
        ...(code === undefined ? {} : { code }),
        ...(details === undefined ? {} : { details }),
      })
  stand.stack = typeof stack === 'string' ? stack : `${stand.name}: ${text}`
  return stand
}
