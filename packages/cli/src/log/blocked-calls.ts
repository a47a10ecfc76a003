import type { ToolCallRow } from '@smithers/tool-core/log'
import { errorFields } from './call-outcome.ts'

/** A call that was not run because an earlier one may have had the same effect. */
export interface BlockedCall {
  readonly nodeId: string
  readonly toolName: string
  /** The value for `--allow`. */
  readonly key: string
}

const codes: ReadonlySet<string> = new Set(['TOOL_CALL_BLOCKED', 'TOOL_OUTCOME_UNKNOWN'])

/** The calls that are still blocked, because no later call with their key has run. */
export function blockedCalls(calls: readonly ToolCallRow[]): BlockedCall[] {
  const blocked = new Map<string, BlockedCall>()
  for (const call of calls) {
    const { idempotencyKey: key, nodeId, toolName } = call
    if (key === null) continue
    // An interrupted call has this code too, but it ran: its effect is unknown.
    const refused = call.effect === 'none' && codes.has(errorFields(call).code ?? '')
    if (refused) blocked.set(key, { nodeId, toolName, key })
    else if (call.effect !== 'none') blocked.delete(key)
  }
  return [...blocked.values()]
}
