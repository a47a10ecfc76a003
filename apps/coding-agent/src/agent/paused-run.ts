import { isSmithersError, type SmithersError } from '@smithers/tool-core'
import { CommandFailure, exitCodes } from '../command-failure.ts'

/** True for the error of a run that waits for an approval: nothing has failed. */
export function isPaused(error: unknown): error is SmithersError {
  return isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
}

/** The run waits for somebody: says how to decide, and how to go on. */
export function pausedFailure(error: SmithersError, logPath: string, goOn: string): CommandFailure {
  const waiting = (error.details['approvals'] ?? []) as readonly { readonly approvalId: string }[]
  const commands = waiting.map(
    ({ approvalId }) => `smithers approve ${approvalId} --log ${logPath}`,
  )
  return new CommandFailure(
    exitCodes.failed,
    `The run is paused, because ${waiting.length === 1 ? 'a call waits' : `${waiting.length} calls wait`} for approval. ` +
      `Decide with: ${commands.join('; ')} (or reject). Then ${goOn}.`,
    { cause: error },
  )
}
