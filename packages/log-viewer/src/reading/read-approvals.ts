import type { ApprovalRow } from '@smithers/tool-core/log'
import type { ApprovalsResponse, ApprovalView } from '../api/approvals.ts'
import { approvalView } from './approval-view.ts'
import type { LogReader } from './log-reader.ts'

/** What waits for a decision, oldest first. Writes nothing, so a request whose time is over is left out here. */
export async function readApprovals(
  reader: LogReader,
  runId: string | undefined,
): Promise<ApprovalsResponse> {
  const version = await reader.version()
  const nowMs = reader.nowMs()
  const query = {
    status: 'pending',
    limit: Infinity,
    ...(runId !== undefined && { runId }),
  } as const
  const rows = (await reader.approvals?.list(query)) ?? []
  const current = rows.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs)
  const approvals = await Promise.all(current.toReversed().map((row) => viewOf(reader, row)))
  return { approvals, version }
}

/** A request as the page shows it, with whether its call is known to be safe to repeat. */
export async function viewOf(reader: LogReader, row: ApprovalRow): Promise<ApprovalView> {
  return approvalView(row, await isSafeToRepeat(reader, row))
}

/**
 * Whether a call may run twice without harm. A request does not say so; the rows of the call that asked, or of the tool in
 * the same run, do. Without any, the answer is no.
 */
export async function isSafeToRepeat(
  reader: LogReader,
  { runId, toolName }: ApprovalRow,
): Promise<boolean> {
  const query = { runId, toolName, order: 'descending', limit: 1, contentsUpTo: 1 } as const
  const [row] = await reader.log.list(query)
  return row !== undefined && row.idempotent
}
