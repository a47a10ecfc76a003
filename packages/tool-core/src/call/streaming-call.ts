import { SmithersError } from '../smithers-error.ts'
import type { ToolCallOptions } from '../tool-call-options.ts'
import { ToolCall } from './tool-call.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * Runs one call of a tool that streams. The AI SDK looks at what `execute` returns before any promise settles, so this
 * returns the generator itself; the call has its place in the task from now on, and its row from the first `next`.
 */
export function executeStreamingCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions,
): AsyncGenerator<unknown, void> {
  return stream(new ToolCall(definition, options), definition, args)
}

async function* stream(
  call: ToolCall,
  definition: ToolDefinition,
  given: unknown,
): AsyncGenerator<unknown, void> {
  const { args, context } = await call.begin(given)
  let last: unknown
  let ended = false
  try {
    for await (const value of definition.execute(args, context) as AsyncIterable<unknown>) {
      last = value
      yield value
    }
    ended = true
  } catch (error) {
    ended = true
    await call.fail(error)
    throw error
  } finally {
    // The consumer stopped listening: whatever the tool had done by then, nobody knows.
    if (!ended) {
      await call.fail(
        new SmithersError(
          'TOOL_INTERRUPTED',
          'The stream of this tool was abandoned before its end.',
        ),
      )
    }
  }
  await call.succeed(last)
}
