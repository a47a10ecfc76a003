import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import { startTimeLimit } from './time-limit.ts'
import { ToolCall } from './tool-call.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * Runs one call of a tool that streams. The AI SDK looks at what `execute` returns before any promise settles, so this
 * returns the generator itself; the call has its place in the task from now on, and its row from the first `next`.
 */
export function executeStreamingCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions | undefined,
): AsyncGenerator<unknown, void> {
  return streamAndLeave(new ToolCall(definition, options), definition, args)
}

async function* streamAndLeave(
  call: ToolCall,
  definition: ToolDefinition,
  given: unknown,
): AsyncGenerator<unknown, void> {
  try {
    yield* stream(call, definition, given)
  } finally {
    call.leave()
  }
}

async function* stream(
  call: ToolCall,
  definition: ToolDefinition,
  given: unknown,
): AsyncGenerator<unknown, void> {
  const begun = await call.begin(given)
  if (begun.kind === 'answer') {
    yield begun.output
    return
  }
  const { args, context } = begun
  const limit = startTimeLimit(definition, call)
  const values = call.run(() => definition.execute(args, context) as AsyncIterable<unknown>)
  const iterator = values[Symbol.asyncIterator]()
  let last: unknown
  let state: 'streaming' | 'done' | 'failed' = 'streaming'
  try {
    for (;;) {
      // A generator runs in the context of whoever asks for its next value.
      const step = await limit.race(call.within(() => iterator.next()))
      if (step.done === true) break
      last = step.value
      yield last
    }
    state = 'done'
  } catch (error) {
    state = 'failed'
    await call.fail(error)
    throw call.told(error)
  } finally {
    limit.clear()
    if (state !== 'done') void closeQuietly(iterator)
    // The consumer stopped listening: what the tool had done by then, nobody knows.
    if (state === 'streaming') await call.fail(abandonedError(definition.metadata.name))
  }
  await call.succeed(last)
}

async function closeQuietly(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.()
  } catch {
    // The call has failed already; how its generator ends changes nothing.
  }
}

function abandonedError(toolName: string): SmithersError {
  return new SmithersError(
    'TOOL_INTERRUPTED',
    `The stream of tool "${toolName}" was abandoned before its end.`,
    { details: { toolName } },
  )
}
