/** What the process ends with. A script that starts `smithers` can act on these. */
export const exitCodes = {
  /** What was asked for has happened. */
  ok: 0,
  /** The command was understood and did not succeed: the model failed, the tests are red, nothing isolates. */
  failed: 1,
  /** Wrong usage or bad input. Nothing was started and nothing was changed. */
  usage: 2,
  /** Nothing has failed: a call waits for somebody who approves or rejects it. */
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

/** The input is wrong: says which value, and what to give instead. */
export function badInput(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, { cause })
}
