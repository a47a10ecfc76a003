import { isSmithersError, pendingApprovals, type SmithersError } from '@smithers/tool-core'
import type { ApprovalRow, ToolCallLog } from '@smithers/tool-core/log'
import { CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { logArgument } from '../terminal/log-argument.ts'

/** A call that waits for a decision, and the commands that decide. */
export interface WaitingCall {
  readonly approvalId: string
  readonly nodeId: string
  readonly toolName: string
  /** The approval prompt, or the arguments if the tool has none. */
  readonly question: string
  readonly approve: string
  readonly reject: string
}

/** True for the error of a run that waits for an approval: nothing has failed. */
export function isPaused(error: unknown): error is SmithersError {
  return isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
}

/** The pending calls of a run. */
export async function waitingCalls(
  log: ToolCallLog,
  runId: string,
  logPath: string,
): Promise<WaitingCall[]> {
  const approvals = await pendingApprovals({ log, runId })
  return approvals.map((approval) => waitingCall(approval, logArgument(logPath)))
}

/** @param logOption The option that makes a command read this log. */
export function waitingCall(
  { id, nodeId, toolName, prompt, inputJson }: ApprovalRow,
  logOption: string,
): WaitingCall {
  return {
    approvalId: id,
    nodeId,
    toolName,
    question: prompt ?? `${toolName} ${inputJson ?? ''}`,
    approve: `smithers approve ${id}${logOption}`,
    reject: `smithers reject ${id}${logOption}`,
  }
}

/** The outcome of a paused run. Its exit code differs from that of a failure. */
export function pausedFailure(
  cause: SmithersError,
  count: number,
  resumeWith: string,
): CommandFailure {
  const calls = count === 1 ? 'a call waits' : `${count} calls wait`
  return new CommandFailure(
    exitCodes.waiting,
    `The run is paused: ${calls} for approval. After the decision, resume with: ${resumeWith}`,
    { cause },
  )
}
