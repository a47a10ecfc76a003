import type { boundContext } from './ambient-context.ts'
import type { ConversationMessage, TaskContext } from './tool-context.ts'

/** What the AI SDK hands to `execute`; the fields differ between its majors. A direct caller needs the first two. */
export interface ToolCallOptions {
  readonly toolCallId: string
  readonly messages: readonly ConversationMessage[]
  readonly abortSignal?: AbortSignal | undefined
  /** AI SDK 7. */
  readonly context?: unknown
  /** AI SDK 5 and 6. */
  readonly experimental_context?: unknown
  /** AI SDK 7. */
  readonly experimental_sandbox?: unknown
  /** Set by `run.tools`. */
  readonly [boundContext]?: TaskContext
}
