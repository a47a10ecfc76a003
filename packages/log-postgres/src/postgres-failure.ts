import { isSmithersError, SmithersError } from '@smithers/tool-core/log'

/** The error that the log's methods throw. It names no host and no password: a model may read it. */
export function unavailable(
  reason: string,
  message: string,
  options: { readonly cause?: unknown } = {},
): SmithersError {
  return new SmithersError('TOOL_LOG_UNAVAILABLE', message, { details: { reason }, ...options })
}

/** The SQLSTATE of an error that the server raised; null for any other error. */
export function sqlState(error: unknown): string | null {
  const code = codeOf(error)
  // Codes of the operating system that have five characters as well (EPIPE) hold no digit.
  return code !== null && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' ? code : null
}

/** What a failed statement allows. */
export type FailureKind =
  /** The connection broke: the statement may have been committed. It can be tried again. */
  | 'connection-lost'
  /** The server has taken the statement back. It can be tried again. */
  | 'rolled-back'
  /** Trying again fails again. */
  | 'final'

/** Tells what a failed statement allows. What cannot be told counts as final. */
export function kindOf(error: unknown): FailureKind {
  const state = sqlState(error)
  if (state !== null) {
    if (state === '40001' || state === '40P01') return 'rolled-back'
    return state.startsWith('08') || lostStates.has(state) ? 'connection-lost' : 'final'
  }
  if (isSmithersError(error)) return 'final'
  if (lostCodes.has(codeOf(error) ?? '')) return 'connection-lost'
  return error instanceof Error && lostMessage.test(error.message) ? 'connection-lost' : 'final'
}

/**
 * Whether one row of a statement may be why the server refused it, so that the others can be stored without it. The
 * statement has stored nothing then. What a trigger raises can have any code, so what the server says of itself is told.
 */
export function mayRefuseOneRow(error: unknown): boolean {
  const state = sqlState(error)
  if (state === null || kindOf(error) !== 'final') return false
  // A policy of the table refuses a row with the code of a missing grant.
  return state === '42501' || !classesOfServer.has(state.slice(0, 2))
}

/** Classes of SQLSTATE that tell of the connection, the server or the statement, and refuse every row alike. */
const classesOfServer: ReadonlySet<string> = new Set([
  '0A', // feature not supported
  '25', // invalid transaction state, read only among them
  '26', // invalid name of a statement
  '28', // invalid authorization
  '3D', // no such database
  '3F', // no such schema
  '40', // rolled back; 40003 cannot tell whether
  '42', // no such table or column, syntax
  '53', // no memory, disk or connection left
  '55', // an object is locked or not ready
  '57', // cancelled, shut down
  '58', // the system beneath it
  'F0', // its configuration
])

/** The driver's own errors have no code. */
const lostMessage =
  /Connection terminated|Connection ended|connection timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|not queryable/i

const lostStates: ReadonlySet<string> = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
])

const lostCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
  // The socket of a server that is not running.
  'ENOENT',
])

/** Puts an error of the server or of the driver into the words of the log; an error of ours is returned as it is. */
export function asLogError(error: unknown, action: string): unknown {
  if (isSmithersError(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  const [reason, advice] = explain(error, message)
  // The driver's own text names hosts and users: it is the cause, which no model reads.
  const code = sqlState(error) ?? codeOf(error)
  const said = code === null || code === undefined ? '' : ` (${code})`
  return unavailable(reason, `The tool-call log could not ${action}${said}. ${advice}`, {
    cause: error,
  })
}

type Explanation = readonly [reason: string, advice: string]

function explain(error: unknown, message: string): Explanation {
  const state = sqlState(error)
  if (state === '53300') return explanations['53300'] as Explanation
  if (kindOf(error) === 'connection-lost') return noConnection
  if (/query read timeout/i.test(message)) return noAnswer
  if (state === null) {
    return codeOf(error) === 'ENOTFOUND' ? noConnection : ['driver', 'See the cause.']
  }
  const known = explanations[state] ?? explanations[state.slice(0, 2)]
  return known ?? [`sqlstate-${state}`, 'See the cause.']
}

const noConnection: Explanation = [
  'no-connection',
  'Check that the PostgreSQL server runs and can be reached, then try again. What was being written may be stored.',
]

const noAnswer: Explanation = [
  'no-answer',
  'The server took too long to answer. Check its load and its locks, then try again. What was being written may be stored.',
]

const permissionDenied: Explanation = [
  'permission-denied',
  'Grant the role USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables; to create them, CREATE on the schema or a role that has it.',
]

/** By SQLSTATE, or by its class where all of a class have the same remedy. */
const explanations: Readonly<Record<string, Explanation>> = {
  '25006': ['read-only', 'Connect to a server that takes writes, not to a standby.'],
  '28': ['authentication', 'Check the user and the password of the connection string.'],
  '3D000': ['no-database', 'Create the database, or name another one in the connection string.'],
  '3F000': ['no-tables', 'Open the log with migrate: true once, or call migrate().'],
  '40': ['busy', 'Other transactions were in the way for too long. Try again.'],
  '42501': permissionDenied,
  '42P01': ['no-tables', 'Open the log with migrate: true once, or call migrate().'],
  '53100': ['full', 'Free some space on the disk of the server, or remove old calls with prune().'],
  '53200': ['server-memory', 'Give the server more memory, or use fewer connections.'],
  '53300': ['busy', 'The server has no connection left. Use fewer, or put a pooler before it.'],
  '54000': ['too-long', 'An identifier is too long for an index. Use shorter ids and names.'],
  '55P03': ['busy', 'Another transaction holds a lock. Try again.'],
  '57014': [
    'no-answer',
    'The server stopped the statement. Check its statement_timeout and its load.',
  ],
}
