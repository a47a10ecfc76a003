import type { SmithersError } from '../errors/smithers-error.ts'
import type { ConversationMessage } from './task-context.ts'
import type { TaskContext } from './task-context.ts'

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
  /** Set by `run.record`. */
  readonly [invalidBefore]?: SmithersError
}

/** Under this key the options of a call say why it was refused before it came here: it is recorded and never run. */
export const invalidBefore: unique symbol = Symbol.for('smithers.tool.refused-before') as never

/** Options of a direct call that left some out. */
export function completeCallOptions(
  options: Partial<ToolCallOptions> | undefined,
): ToolCallOptions {
  if (options?.toolCallId !== undefined && options.messages !== undefined) {
    return options as ToolCallOptions
  }
  return {
    ...options,
    toolCallId: options?.toolCallId ?? crypto.randomUUID(),
    messages: options?.messages ?? [],
  }
}

/** Under this key the options of one call carry the context that `run.tools` bound. */
export const boundContext: unique symbol = Symbol.for('smithers.tool.bound-context') as never
