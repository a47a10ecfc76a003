import { boundContext, runWithToolContext } from './ambient-context.ts'
import type { ToolCallOptions } from './tool-call-options.ts'
import { createToolContext, type TaskContext, type ToolContextOptions } from './tool-context.ts'

/** One attempt of one task, for whoever drives the agent. */
export interface ToolRun {
  readonly context: TaskContext
  /** Copies of tools whose calls belong to this run, wherever they are made. */
  tools<Tools extends Readonly<Record<string, unknown>>>(tools: Tools): Tools
  /** Runs `fn`; every defined tool called in it belongs to this run. */
  with<Result>(fn: () => Result): Result
}

/**
 * Creates a run.
 *
 * @throws SmithersError `INVALID_INPUT` for a value out of range.
 */
export function createToolRun(options: ToolContextOptions = {}): ToolRun {
  const context = createToolContext(options)
  return {
    context,
    tools: (tools) =>
      Object.fromEntries(
        Object.entries(tools).map(([key, tool]) => [key, bound(tool, context)]),
      ) as typeof tools,
    with: (fn) => runWithToolContext(context, fn),
  }
}

type Execute = (args: unknown, options: ToolCallOptions) => unknown

function bound(tool: unknown, context: TaskContext): unknown {
  if (typeof tool !== 'object' || tool === null) return tool
  const { execute } = tool as { readonly execute?: Execute }
  if (typeof execute !== 'function') return tool
  return {
    ...tool,
    execute: (args: unknown, options: ToolCallOptions) =>
      execute(args, { ...options, [boundContext]: context }),
  }
}
