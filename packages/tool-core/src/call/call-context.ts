import type { StartRow } from '../log/tool-call-log.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { CallAbort } from '../context/call-abort.ts'

/** Makes what the tool gets as its second parameter. */
export function createCallContext(
  task: TaskContext,
  row: StartRow,
  options: ToolCallOptions,
  abort: CallAbort,
): ToolContext {
  return Object.freeze({
    ...task,
    idempotencyKey: row.idempotencyKey ?? '',
    toolName: row.toolName,
    sideEffect: row.sideEffect,
    idempotent: row.idempotent,
    seq: row.seq,
    occurrence: row.occurrence,
    toolCallId: options.toolCallId,
    messages: options.messages,
    context: options.context ?? options.experimental_context,
    experimental_sandbox: options.experimental_sandbox,
    // Most tools never look at it, and combining signals costs more than the rest of the context.
    get abortSignal() {
      return abort.signal
    },
  })
}
