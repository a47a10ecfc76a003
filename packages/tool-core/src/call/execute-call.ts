import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import { isThenable } from '../async/maybe-promise.ts'
import { startTimeLimit } from './time-limit.ts'
import { ToolCall } from './tool-call.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * Runs one call of a tool that answers once: begin, run, record. Up to the tool's own first await nothing is awaited
 * unless it must be, so that with a synchronous log the start row exists when this returns.
 */
export async function executeCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions | undefined,
): Promise<unknown> {
  const call = new ToolCall(definition, options)
  try {
    return await runCall(call, definition, args)
  } finally {
    call.leave()
  }
}

async function runCall(
  call: ToolCall,
  definition: ToolDefinition,
  args: unknown,
): Promise<unknown> {
  const pending = call.begin(args)
  const begun = isThenable(pending) ? await pending : pending
  if (begun.kind === 'answer') return call.inline(begun.output)

  const limit = startTimeLimit(definition, call)
  let output: unknown
  try {
    output = call.run(() => definition.execute(begun.args, begun.context))
    if (hasMethod<PromiseLike<unknown>>(output, 'then')) output = await limit.race(output)
    if (hasMethod<AsyncIterable<unknown>>(output, Symbol.asyncIterator)) {
      const values = output
      output = await limit.race(call.within(() => lastOf(values)))
    }
  } catch (error) {
    const recorded = call.fail(error)
    if (isThenable(recorded)) await recorded
    throw call.told(error)
  } finally {
    limit.clear()
  }
  return call.succeed(output)
}

/** Looks for a method of what a tool returned, which may be an object that throws when it is looked at. */
function hasMethod<Shape extends object>(value: unknown, name: keyof Shape): value is Shape {
  if (typeof value !== 'object' || value === null) return false
  try {
    return typeof (value as Shape)[name] === 'function'
  } catch {
    return false
  }
}

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  for await (const value of values) last = value
  return last
}
