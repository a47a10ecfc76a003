/**
 * Every code an error of these packages can carry. Codes are stable: a message may be reworded, a code may not.
 */
export type SmithersErrorCode =
  | 'INVALID_INPUT'
  | 'INVALID_TOOL'
  | 'TOOL_NOT_FOUND'
  | 'TOOL_PATH_INVALID'
  | 'TOOL_PATH_ESCAPE'
  | 'TOOL_PATH_DENIED'
  | 'TOOL_FILE_NOT_FOUND'
  | 'TOOL_NOT_A_FILE'
  | 'TOOL_FILE_TOO_LARGE'
  | 'TOOL_FILE_NOT_TEXT'
  | 'TOOL_CONTENT_TOO_LARGE'
  | 'TOOL_FILE_CHANGED'
  | 'TOOL_FILE_FAILED'
  | 'TOOL_PATCH_TOO_LARGE'
  | 'TOOL_PATCH_FAILED'
  | 'TOOL_PATCH_ALREADY_APPLIED'
  | 'TOOL_REPLACE_FAILED'
  | 'TOOL_GREP_FAILED'
  | 'TOOL_GLOB_FAILED'
  | 'TOOL_COMMAND_FAILED'
  | 'TOOL_SPAWN_FAILED'
  | 'TOOL_TIMEOUT'
  | 'TOOL_ABORTED'
  | 'TOOL_NETWORK_DISABLED'
  | 'TOOL_GIT_REMOTE_DISABLED'
  | 'TOOL_ISOLATION_UNAVAILABLE'
  | 'TOOL_ISOLATION_LOST'
  | 'TOOL_ROOT_CHANGED'
  | 'TOOL_CLOSED'
  | 'RUNTIME_UNSUPPORTED'
  | 'TOOL_LIMIT_REACHED'
  | 'TOOL_CIRCUIT_OPEN'
  | 'TOOL_APPROVAL_REQUIRED'
  | 'TOOL_APPROVAL_REJECTED'
  | 'TOOL_APPROVAL_NOT_FOUND'
  | 'TOOL_APPROVAL_DECIDED'
  | 'TOOL_STATE_CONFLICT'
  | 'TOOL_FAILED'
  | 'TOOL_CALL_IN_PROGRESS'
  | 'TOOL_CALL_FENCED'
  | 'TOOL_CALL_BLOCKED'
  | 'TOOL_OUTCOME_UNKNOWN'
  | 'TOOL_INTERRUPTED'
  | 'TOOL_LOG_UNAVAILABLE'
  | 'TOOL_INPUT_NOT_CANONICAL'
  | 'WORKFLOW_INVALID'
  | 'WORKFLOW_CHANGED'
  | 'WORKFLOW_RUN_BUSY'
  | 'WORKFLOW_RUN_LOST'
  | 'WORKFLOW_STOPPED'
  | 'TASK_FAILED'
  | 'TASK_OUTPUT_INVALID'
  | 'TASK_TIMEOUT'

/** What a failed call may have left behind outside the process. */
export type CallEffect = 'none' | 'applied' | 'unknown'

/** Options of {@link SmithersError}. */
export interface SmithersErrorOptions {
  /** Facts a program can act on: the value, the limit, the path relative to the root. Never file contents. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The error underneath. */
  readonly cause?: unknown
  /** What the failed call did outside the process. `'none'` lets a retry run without a warning. */
  readonly effect?: CallEffect
  /** What the log records in place of the message, when the message quotes contents that must not be stored. */
  readonly logMessage?: string
  /**
   * Ends the run (`run.fatal`), since no call of the model can repair it: a root directory that is missing. @default false
   */
  readonly fatal?: boolean
}

/** The plain form of an error, as it is logged. */
export interface SmithersErrorJson {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly effect?: CallEffect
}

// Shared by every package whose errors have this shape, so that one check serves all of them.
const marker: symbol = Symbol.for('smithers.error')

/**
 * The error that these packages throw. A model reads `message`, a program reads `code` and `details`.
 *
 * @example
 * throw new SmithersError('INVALID_INPUT', 'sku is empty. Pass the SKU from the catalogue.', { effect: 'none' })
 */
export class SmithersError extends Error {
  override readonly name: string = 'SmithersError'
  readonly code: SmithersErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly effect: CallEffect | undefined
  readonly logMessage: string | undefined
  readonly fatal: boolean | undefined

  constructor(code: SmithersErrorCode, message: string, options: SmithersErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = Object.freeze({ ...options.details })
    this.effect = options.effect
    this.logMessage = options.logMessage
    this.fatal = options.fatal
  }

  toJSON(): SmithersErrorJson {
    return {
      name: this.name,
      code: this.code,
      message: this.logMessage ?? this.message,
      details: this.details,
      ...(this.effect === undefined ? {} : { effect: this.effect }),
    }
  }
}

// On the prototype, so that it is neither copied nor shown with an error's own fields.
Object.defineProperty(SmithersError.prototype, marker, { value: true })

const toolMarker: symbol = Symbol.for('smithers.error.SmithersError')
Object.defineProperty(SmithersError.prototype, toolMarker, { value: true })

/** True for a {@link SmithersError} alone, also of another copy of this package: not for errors of the same shape. */
export function isToolError(error: object): boolean {
  return toolMarker in error
}

/**
 * True for a {@link SmithersError} and for the errors of the same shape that packages without a dependency on this
 * one throw, also when two copies of a package are loaded.
 */
export function isSmithersError(error: unknown): error is SmithersError {
  return typeof error === 'object' && error !== null && marker in error
}
