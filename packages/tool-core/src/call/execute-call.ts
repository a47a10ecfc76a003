import type { ToolCallOptions } from '../tool-call-options.ts'
import { isThenable } from './maybe-promise.ts'
import { ToolCall } from './tool-call.ts'
import type { ToolDefinition } from './tool-definition.ts'

/**
 * Runs one call of a tool that answers once. Up to the tool's own first await nothing is awaited unless it must be, so
 * that with a synchronous log the start row exists when this returns.
 */
export async function executeCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions,
): Promise<unknown> {
  const call = new ToolCall(definition, options)
  const pending = call.begin(args)
  const begun = isThenable(pending) ? await pending : pending
  let output: unknown
  try {
    output = definition.execute(begun.args, begun.context)
    if (isThenable(output)) output = await output
    if (isAsyncIterable(output)) output = await lastOf(output)
  } catch (error) {
    await call.fail(error)
    throw error
  }
  return call.succeed(output)
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  for await (const value of values) last = value
  return last
}
