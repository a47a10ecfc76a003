import type { ToolContext } from '../contract/task-context.ts'
import type { ReportedNetworkUse } from './call-network.ts'
import { callRecord, type CallRecord } from './call-record.ts'

/**
 * Puts what a command of a tool did on the network into the row of the call. Several reports of one call add up. Does
 * nothing for a context that no call has.
 *
 * @example
 * const result = await sandbox.run('npm', ['ci'])
 * if (result.network) recordNetworkUse(ctx, result.network)
 */
export function recordNetworkUse(ctx: ToolContext, use: ReportedNetworkUse): void {
  recordOf(ctx)?.network.add(use)
}

/** The record of the call that a context is of. */
export function recordOf(ctx: ToolContext): CallRecord | undefined {
  return (ctx as { readonly [callRecord]?: CallRecord })[callRecord]
}
