import { isLeftOpen, outcomeOf, summarizeRow } from '../history/call-summary.ts'
import type { CallIdentity } from '../history/call-identity.ts'
import type { CallOccurrence } from '../history/call-history.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import type { CallScope } from './call-scope.ts'

/**
 * Moves a call to another occurrence when an equal call with another id holds its own, and returns where it went. A worker
 * beside this one made that call since this attempt read the log, and its answer is not the answer to this call.
 */
export function makeRoom(
  call: CallScope,
  identity: CallIdentity,
  holder: ToolCallRow,
): CallOccurrence | undefined {
  const { definition, journal, history, options, record } = call
  const { toolCallId, messages } = options
  if (journal.policy.lineage !== 'journaled') return undefined
  const isOther = holder.toolCallId !== toolCallId
  if (!isOther || holder.idempotencyKey !== record.row.idempotencyKey) return undefined
  const summary = summarizeRow(holder, nowOf(call.task.log))
  if (outcomeOf(summary) !== 'success' && !isLeftOpen(summary)) return undefined
  record.forget()
  // If its worker is gone, the engine still asks for it again, under its own id.
  const status = holder.status === 'success' ? 'success' : 'started'
  history.addBegun(identity.fingerprint, { ...summary, status })
  const found = history.locate(definition.metadata.name, identity, toolCallId, messages)
  record.identify(identity, found.occurrence)
  return found
}
