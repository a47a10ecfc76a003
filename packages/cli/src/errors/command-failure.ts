/** Exit codes of the process, for scripts that start `smithers`. */
export const exitCodes = {
  /** The command succeeded. */
  ok: 0,
  /** The command failed: the model failed, a check does not hold, nothing isolates commands. */
  failed: 1,
  /** Wrong usage or bad input. Nothing was started and nothing was changed. */
  usage: 2,
  /** Nothing has failed: a call waits to be approved or rejected. */
  waiting: 3,
  /** Ctrl-C or SIGTERM. */
  interrupted: 130,
} as const

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the command with one line on stderr and an exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** Ends the process with the exit code of a command that it ran, which has said all there is to say. */
export class CommandExit extends Error {
  override readonly name = 'CommandExit'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** Wrong input. The message says which value is wrong and what to give instead. */
export function badInput(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, { cause })
}
