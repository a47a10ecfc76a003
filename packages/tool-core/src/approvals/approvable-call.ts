import type { ToolContext } from '../contract/task-context.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'

/** A call that may need approval. */
export interface ApprovableCall {
  readonly definition: ToolDefinition
  readonly task: TaskContext
  readonly policy: JournalPolicy
  readonly row: StartRow
  readonly callKey: string
  readonly args: unknown
  readonly messages: readonly ConversationMessage[]
  readonly context: () => ToolContext
}

/** A call that needs no approval, or has it. */
export interface ApprovedCall {
  /** The agent's arguments, or the approver's. */
  readonly args: unknown
  /** The same call, made elsewhere with the same approval, which succeeded meanwhile. */
  readonly winner?: ToolCallRow
  /** False when the call took so long to start that its approval was taken for unused, and another call has it. */
  readonly isHeld?: () => MaybePromise<boolean>
  /** Gives the approval back, because the call did not run; undefined when there was none to take. */
  readonly giveBack: (() => Promise<void>) | undefined
  /** Removes the approver's arguments from the store, because the call has run. Never fails. */
  readonly forget: (() => Promise<void>) | undefined
}
