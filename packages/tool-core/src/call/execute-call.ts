import { drive, type MaybePromise, type Steps } from '../async/maybe-promise.ts'
import { runWithinTask } from '../context/ambient-context.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { beginCall } from './begin-call.ts'
import { type BegunCall, type CallScope, leaveCall, openCall } from './call-scope.ts'
import { failCall, shownOutput, succeedCall } from './settle-call.ts'
import { noteArguments, noted } from './noted-output.ts'
import { startTimeLimit, type TimeLimit } from './time-limit.ts'

/**
 * Runs one call of a tool that answers once: begin, run, record. Up to the tool's own first await nothing is awaited
 * unless it must be, so that with a synchronous log the start row exists when this returns.
 */
export async function executeCall(
  definition: ToolDefinition,
  args: unknown,
  options: ToolCallOptions | undefined,
): Promise<unknown> {
  const call = openCall(definition, options)
  try {
    const { trace } = call.record
    const run = (): MaybePromise<unknown> => drive(runCall(call, args))
    return await (trace === undefined ? run() : trace.run(run))
  } finally {
    leaveCall(call)
  }
}

function* runCall(call: CallScope, given: unknown): Steps<unknown> {
  const begun = yield* beginCall(call, given)
  noteArguments(call, given)
  if (begun.kind === 'answer') return noted(call, yield* shownOutput(call, begun.output))
  let output: unknown
  try {
    output = yield* runTool(call, begun)
  } catch (error) {
    throw yield* failCall(call, error)
  }
  return noted(call, yield* succeedCall(call, output))
}

function* runTool(
  call: CallScope,
  { args, context }: Extract<BegunCall, { kind: 'run' }>,
): Steps<unknown> {
  const { definition, task, record } = call
  const limit = definition.timeoutMs === undefined ? undefined : startTimeLimit(call)
  try {
    record.ran = true
    const started = record.events.around(record.row, () =>
      runWithinTask(task, () => definition.execute(args, context)),
    )
    if (isPrimitive(started)) return started
    const output = hasMethod<PromiseLike<unknown>>(started, 'then')
      ? yield within(limit, started)
      : started
    if (!hasMethod<AsyncIterable<unknown>>(output, Symbol.asyncIterator)) return output
    return yield within(
      limit,
      runWithinTask(task, () => lastOf(output)),
    )
  } finally {
    limit?.clear()
  }
}

function within(limit: TimeLimit | undefined, work: PromiseLike<unknown>): PromiseLike<unknown> {
  return limit === undefined ? work : limit.race(work)
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null
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
