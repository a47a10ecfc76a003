import { AsyncLocalStorage } from 'node:async_hooks'
import { hasJournal } from '../journal/attempt-journal.ts'
import { createEphemeralContext, createAmbientContext } from './create-tool-context.ts'
import type { ToolContextOptions } from '../contract/run-options.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { boundContext, type ToolCallOptions } from '../contract/tool-call-options.ts'

// One storage for every copy of this package in the process, so that they see each other's contexts.
const storageKey: unique symbol = Symbol.for('smithers.tool.context') as never
type Storage = AsyncLocalStorage<TaskContext>
const shared = globalThis as { [storageKey]?: Storage }
const storage: Storage = (shared[storageKey] ??= new AsyncLocalStorage<TaskContext>())

/**
 * Runs `fn`; every tool called in it, however deep, gets `context`.
 *
 * @param context A context, or the options of one.
 * @throws SmithersError `INVALID_INPUT` when options are out of range.
 */
export function runWithToolContext<Result>(
  context: TaskContext | ToolContextOptions,
  fn: () => Result,
): Result {
  return storage.run(asTaskContext(context), fn)
}

/** Returns the context of the surrounding {@link runWithToolContext}, or `undefined` outside one. */
export function getToolContext(): TaskContext | undefined {
  return storage.getStore()
}

/** Makes a task ambient, so that tools called within belong to it. */
export function runWithinTask<Result>(task: TaskContext, fn: () => Result): Result {
  return storage.getStore() === task ? fn() : storage.run(task, fn)
}

/** Finds the context of a call: bound by `run.tools`, else in the agent's own context, else ambient, else ephemeral. */
export function contextOfCall(options: ToolCallOptions): TaskContext {
  const bound = options[boundContext]
  if (bound !== undefined) return bound
  const inAgentContext = smithersOf(options.context) ?? smithersOf(options.experimental_context)
  if (inAgentContext !== undefined) return asTaskContext(inAgentContext)
  return storage.getStore() ?? createEphemeralContext()
}

function smithersOf(context: unknown): TaskContext | ToolContextOptions | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  const { smithers } = context as { readonly smithers?: unknown }
  if (typeof smithers !== 'object' || smithers === null) return undefined
  // A run may be given whole.
  const { context: inRun } = smithers as { readonly context?: unknown }
  return hasJournal(inRun) ? (inRun as TaskContext) : smithers
}

// Options given in place of a context make one context, however often they are passed on.
const contextsOfOptions = new WeakMap<object, TaskContext>()

function asTaskContext(given: TaskContext | ToolContextOptions): TaskContext {
  if (hasJournal(given)) return given as TaskContext
  let context = contextsOfOptions.get(given)
  if (context === undefined) {
    context = createAmbientContext(given)
    contextsOfOptions.set(given, context)
  }
  return context
}
