import type { ToolRun } from '@smithers/tool-core'

interface Callable {
  readonly execute: (args: never, options: never) => unknown
}

let calls = 0

/** Calls a tool as the AI SDK does, within a run. */
export function call(
  run: ToolRun,
  tool: Callable,
  args: unknown,
  options: { readonly toolCallId?: string; readonly abortSignal?: AbortSignal } = {},
): Promise<unknown> {
  calls += 1
  const { execute } = run.tools({ tool }).tool
  const given = { toolCallId: `call_${calls}`, messages: [], ...options }
  return execute(args as never, given as never) as Promise<unknown>
}

/** The codes of errors, and `'ok'` for what succeeded, sorted. */
export async function outcomes(results: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(results)
  return settled
    .map((each) =>
      each.status === 'fulfilled'
        ? 'ok'
        : String((each.reason as { code?: unknown }).code ?? each.reason),
    )
    .toSorted()
}
