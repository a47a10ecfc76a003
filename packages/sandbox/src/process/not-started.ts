import type { SandboxError } from '../errors/sandbox-error.ts'
import { aborted } from './run-errors.ts'
import type { RunResult } from './run-types.ts'

/** Ends the preparation of a command; `confinedRun` turns it into a result. */
export class NotStarted extends Error {
  readonly status: RunResult['status']
  readonly reason: SandboxError

  constructor(status: RunResult['status'], reason: SandboxError) {
    super(reason.message, { cause: reason })
    this.name = 'NotStarted'
    this.status = status
    this.reason = reason
  }
}

/** @throws NotStarted when the call has been aborted */
export function refuseAborted(command: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new NotStarted('aborted', aborted(command, signal, 'none'))
}
