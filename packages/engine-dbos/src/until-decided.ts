import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS, Error as DbosErrors } from '@dbos-inc/dbos-sdk'
import type { ToolCallLog } from '@smithers/tool-core'
import { nowOf } from '@smithers/tool-core/log'

/**
 * Waits until an approval is decided or has expired. Asks the log, so that a decision of any process counts, whether or
 * not DBOS runs there.
 *
 * @throws the reason of the signal, and `DBOSWorkflowCancelledError` when the workflow has been cancelled meanwhile.
 */
export async function untilDecided(
  approvalId: string,
  workflowId: string,
  { log, abortSignal }: { readonly log: ToolCallLog; readonly abortSignal: AbortSignal },
): Promise<void> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    abortSignal.throwIfAborted()
    const [approval] = (await log.approvals?.list({ id: approvalId, limit: 1 })) ?? []
    // Asked for after the decision: a workflow that was cancelled before it must not make the call.
    const workflow = await DBOS.getWorkflowStatus(workflowId)
    if (workflow?.status === 'CANCELLED') {
      throw new DbosErrors.DBOSWorkflowCancelledError(workflowId)
    }
    const { status, expiresAtMs } = approval ?? {}
    if (status !== 'pending' || (expiresAtMs ?? Infinity) <= nowOf(log)) return
    await sleep(delayMs, undefined, { signal: abortSignal })
  }
}

const firstDelayMs = 50
const longestDelayMs = 2_000
