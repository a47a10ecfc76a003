import type { JournalPolicy } from '../contract/journal-options.ts'
import type { ConversationMessage, TaskContext, ToolContext } from '../contract/task-context.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { isThenable, type MaybePromise, type Steps } from '../async/maybe-promise.ts'
import type { CallAbort } from '../async/call-abort.ts'
import type { CallTrace } from '../journal/call-trace.ts'
import type { StartRow, ToolCallLog } from '../log/tool-call-log.ts'

/** A call that may need approval. */
export interface ApprovableCall {
  readonly definition: ToolDefinition
  readonly task: TaskContext
  readonly policy: JournalPolicy
  /** The log of the task; an answer that does not come is an error in time. */
  readonly log: ToolCallLog
  readonly abort: CallAbort
  readonly row: StartRow
  /** What watches the call. */
  readonly trace: CallTrace | undefined
  readonly callKey: string
  readonly args: unknown
  readonly messages: readonly ConversationMessage[]
  readonly context: () => ToolContext
}

/** A call that has the approval it needs. */
export interface ApprovedCall {
  /** The agent's arguments, or the approver's. */
  readonly args: unknown
  /** The approval that the start row of the call must use; null when no log keeps it. */
  readonly approvalId: string | null
  /** Closes the approval, because the call has run. Never fails. */
  readonly close?: () => Promise<void>
  /** Erases the preview of an approval that still holds, because the call ran and had no effect. Never fails. */
  readonly erasePreview?: () => Promise<void>
  /** Frees an approval that no log keeps, because the call did not run. */
  readonly release?: () => void
}

/** Waits for a gate that keeps its own time, until the call is aborted. */
export function* unlessAborted<Value>(
  { abort }: Pick<ApprovableCall, 'abort'>,
  value: MaybePromise<Value>,
): Steps<Value> {
  return isThenable(value) ? ((yield abort.unlessAborted(value)) as Value) : value
}
