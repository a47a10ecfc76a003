import { usesApproval } from '@smithers/tool-core/log'
import type { ApprovalRow, ToolCallLog } from '@smithers/tool-core/log'

/** A call of the run that waits for its approval, or has it. */
export interface WaitingCall {
  readonly callId: string
  /** The attempt that asked last. */
  readonly attempt: number
}

/** The ids of calls that may have to wait begin with what makes them equal, so that any process finds them. */
export function waitingCallId(signature: string): string {
  return `${signature}-${crypto.randomUUID()}`
}

/**
 * The call that an equal one continues: its question is open, or its answer has not been used. A rejection counts until
 * the agent has read it once; the next equal call asks anew.
 */
export async function findWaitingCall(
  log: ToolCallLog,
  runId: string,
  signature: string,
): Promise<WaitingCall | undefined> {
  const asked = (await log.approvals?.list({ runId, limit: mostAsked })) ?? []
  for (const row of asked) {
    const { nodeId } = row
    if (!nodeId.startsWith(`${signature}-`) || !(await isOpen(log, row))) continue
    const task = { runId, nodeId, iteration: 0 }
    const [last] = await log.list({ ...task, order: 'descending', limit: 1 })
    return { callId: nodeId, attempt: last?.attempt ?? row.attempt }
  }
  return undefined
}

const mostAsked = 10_000

async function isOpen(
  log: ToolCallLog,
  { id, status, runId, nodeId }: ApprovalRow,
): Promise<boolean> {
  if (status === 'pending') return true
  if (status === 'approved') {
    const rows = await log.list({ approvalId: id })
    return !rows.some(usesApproval)
  }
  if (status !== 'rejected' && status !== 'expired') return false
  const rows = await log.list({ runId, nodeId, iteration: 0 })
  return !rows.some(({ errorJson }) => errorJson?.includes('"TOOL_APPROVAL_REJECTED"'))
}
