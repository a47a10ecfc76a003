import { SmithersError } from '@smithers/tool-core/log'

/** The primary result code of an error that SQLite raised, without the prefix; null for any other error. */
export function sqliteCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // better-sqlite3 names the extended code, node:sqlite numbers it.
  if (typeof errcode === 'number') return primaryCodes[errcode & 0xff] ?? `CODE_${errcode & 0xff}`
  return typeof code === 'string' && code.startsWith('SQLITE_')
    ? (code.split('_')[1] ?? null)
    : null
}

/** True when another connection holds the lock and waiting may help. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 'BUSY' || code === 'LOCKED'
}

/** The unique index that refused a row, told by the column that SQLite names; null for any other error. */
export function violatedUniqueness(
  error: unknown,
): 'position' | 'call-token' | 'claim' | 'approval' | null {
  if (sqliteCode(error) !== 'CONSTRAINT') return null
  const { message } = error as Error
  if (message.includes('.idempotency_key')) return 'claim'
  if (message.includes('.approval_id')) return 'approval'
  if (message.includes('.call_token')) return 'call-token'
  return message.includes('.run_id') ? 'position' : null
}

/** The error that the log's methods throw. It names no path: a model may read it. */
export function unavailable(
  reason: string,
  message: string,
  options: { cause?: unknown } = {},
): SmithersError {
  return new SmithersError('TOOL_LOG_UNAVAILABLE', message, {
    details: { reason },
    ...options,
  })
}

/** Puts an error of SQLite into the words of the log; any other error is returned as it is. */
export function asLogError(error: unknown, action: string): unknown {
  const code = sqliteCode(error)
  if (code === null) return error
  const [reason, advice] = explanations[code] ?? [`sqlite-${code.toLowerCase()}`, 'See the cause.']
  const { message } = error as Error
  return unavailable(reason, `The tool-call log could not ${action}: ${message}. ${advice}`, {
    cause: error,
  })
}

const explanations: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  BUSY: ['busy', 'Another process holds the lock of the file. Try again.'],
  LOCKED: ['busy', 'Another connection holds the lock of the table. Try again.'],
  READONLY: ['read-only', 'Make the file and its folder writable for this process.'],
  FULL: ['full', 'Free some space, or remove old calls with prune().'],
  CANTOPEN: ['cannot-open', 'Check that the path is a file in an existing, writable folder.'],
  NOTADB: ['not-a-database', 'Choose another file.'],
  CORRUPT: ['damaged', 'Restore the file from a backup, or move it away to begin a new log.'],
  IOERR: ['io', 'Check the disk that holds the file.'],
}

const primaryCodes: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  19: 'CONSTRAINT',
  26: 'NOTADB',
}
