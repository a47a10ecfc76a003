import { drive } from '../async/maybe-promise.ts'
import { runWithinTask } from '../context/ambient-context.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { beginCall } from './begin-call.ts'
import { type CallScope, leaveCall, openCall } from './call-scope.ts'
import { noteArguments, noted } from './noted-output.ts'
import { failCall, succeedCall } from './settle-call.ts'
import { startTimeLimit } from './time-limit.ts'

/**
 * Runs one call of a tool that streams. The AI SDK looks at what `execute` returns before any promise settles, so this
 * returns the generator itself; the call has its seat in the task from now on, and its row from the first `next`.
 */
export function executeStreamingCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions | undefined,
): AsyncGenerator<unknown, void> {
  return streamAndLeave(openCall(definition, options), args)
}

async function* streamAndLeave(call: CallScope, given: unknown): AsyncGenerator<unknown, void> {
  try {
    yield* stream(call, given)
  } finally {
    leaveCall(call)
  }
}

async function* stream(call: CallScope, given: unknown): AsyncGenerator<unknown, void> {
  const { definition, task, record } = call
  const { trace } = record
  const within = <Result>(fn: () => Result): Result => (trace === undefined ? fn() : trace.run(fn))
  const begun = await within(() => drive(beginCall(call, given)))
  noteArguments(call, given)
  if (begun.kind === 'answer') {
    yield noted(call, begun.output)
    return
  }
  const { args, context } = begun
  const limit = startTimeLimit(call)
  record.ran = true
  const values = within(() =>
    record.events.around(record.row, () =>
      runWithinTask(task, () => definition.execute(args, context) as AsyncIterable<unknown>),
    ),
  )
  const iterator = values[Symbol.asyncIterator]()
  let last: unknown
  let state: 'streaming' | 'done' | 'failed' = 'streaming'
  try {
    for (;;) {
      // A generator runs in the context of the code that asks for its next value.
      const step = await limit.race(within(() => runWithinTask(task, () => iterator.next())))
      if (step.done === true) break
      last = step.value
      yield noted(call, last)
    }
    state = 'done'
  } catch (error) {
    state = 'failed'
    throw await drive(failCall(call, error))
  } finally {
    limit.clear()
    if (state !== 'done') void closeQuietly(iterator)
    // The consumer stopped listening: what the tool had done by then is unknown.
    if (state === 'streaming') await drive(failCall(call, abandonedError(definition.metadata.name)))
  }
  await drive(succeedCall(call, last))
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
