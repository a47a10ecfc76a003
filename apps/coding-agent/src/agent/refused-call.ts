import { getDefinedToolMetadata } from '@smithers/tool-core'
import type { ToolSet } from 'ai'
import type { RunReporter } from '../terminal/run-reporter.ts'

/** A call that the AI SDK refused by itself: no such tool, or arguments that do not fit its schema. */
export interface RefusedCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/**
 * Makes a call that never reached its tool visible like any other. One with a tool is handed to that tool, which
 * refuses the same arguments by the same schema and records the refusal; one without is only reported.
 */
export async function recordRefusedCall(
  call: RefusedCall,
  tools: ToolSet,
  reporter: RunReporter,
): Promise<void> {
  const { toolCallId, toolName, input } = call
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
  if (tool?.execute === undefined || getDefinedToolMetadata(tool) === null) {
    reporter.callEnded({
      id: toolCallId,
      seq: null,
      toolName,
      input,
      durationMs: 0,
      code: 'NO_SUCH_TOOL',
      replayed: false,
    })
    return
  }
  try {
    await tool.execute(input, { toolCallId, messages: [], context: undefined })
  } catch {
    // The refusal: recorded, and reported by the events of the call.
  }
}
