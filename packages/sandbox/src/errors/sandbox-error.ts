/** The codes this package throws. They are a subset of the codes of `@smithers/tool-core`. */
export type SandboxErrorCode =
  | 'INVALID_INPUT'
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

export interface SandboxErrorOptions {
  /** Facts for programs. Paths are relative to the root; file contents never appear. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
  /** `'none'`: the call was refused before it changed anything. */
  readonly effect?: 'none' | 'applied' | 'unknown'
}

// tool-core's errors have the same marker, so one check recognises both without a dependency between the packages.
const marker: symbol = Symbol.for('smithers.error')
const sandboxMarker: symbol = Symbol.for('smithers.error.SandboxError')

/** An error of the sandbox. `message` says what was refused, why, and what to do; `code` is stable. */
export class SandboxError extends Error {
  override readonly name: string = 'SandboxError'
  readonly code: SandboxErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly effect: 'none' | 'applied' | 'unknown' | undefined

  constructor(code: SandboxErrorCode, message: string, options: SandboxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = Object.freeze({ ...options.details })
    this.effect = options.effect
  }

  /** Whether `error` is a `SandboxError` of this or another copy of the package. */
  static isInstance(error: unknown): error is SandboxError {
    return typeof error === 'object' && error !== null && sandboxMarker in error
  }

  toJSON(): Readonly<Record<string, unknown>> {
    return {
      name: this.name,
      code: this.code,
      message: this.message,
      details: this.details,
      ...(this.effect === undefined ? {} : { effect: this.effect }),
    }
  }
}

// On the prototype, so that printing or copying an error does not include them.
Object.defineProperty(SandboxError.prototype, marker, { value: true })
Object.defineProperty(SandboxError.prototype, sandboxMarker, { value: true })
