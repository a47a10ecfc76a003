import {
  type DefinedTool,
  type DefineStreamingToolOptions,
  defineTool,
  type DefineToolOptions,
  SmithersError,
  type StreamingTool,
  type ToolContext,
} from '@smithers/tool-core'
import type { output as SchemaOutput, ZodType } from 'zod'

/** Options of {@link createTool}: those of `defineTool`, with `func` for `execute`. */
export type CreateToolOptions<Schema extends ZodType, Output, Name extends string = string> = Omit<
  DefineToolOptions<Schema, Output, Name>,
  'execute'
> & {
  /** Gets the parsed arguments, and the context that `execute` gets. */
  readonly func: (args: SchemaOutput<Schema>, ctx: ToolContext) => PromiseLike<Output> | Output
}

/** Options of {@link createTool} for a tool that streams: each yielded value is preliminary, the last is the output. */
export type CreateStreamingToolOptions<
  Schema extends ZodType,
  Output,
  Name extends string = string,
> = Omit<DefineStreamingToolOptions<Schema, Output, Name>, 'execute'> & {
  readonly func: (args: SchemaOutput<Schema>, ctx: ToolContext) => AsyncGenerator<Output>
}

/**
 * Makes a tool from the shape of the agent SDK. Apart from the name of the function it is
 * `defineTool`: the same gates, context and log. With `needsApproval` and without `cache` it counts as a side effect
 * that is not idempotent, as with `adaptTool`, unless `sideEffect` and `idempotent` say otherwise.
 *
 * @throws SmithersError `INVALID_TOOL`
 * @example
 * const search = createTool({
 *   name: 'search_docs',
 *   description: 'Search the docs index',
 *   schema: z.object({ query: z.string().min(1) }),
 *   func: async ({ query }) => ({ hits: [`result for ${query}`] }),
 * })
 */
export function createTool<Schema extends ZodType, Output, const Name extends string>(
  options: CreateStreamingToolOptions<Schema, Output, Name>,
): StreamingTool<SchemaOutput<Schema>, Output, Name>
export function createTool<Schema extends ZodType, Output, const Name extends string>(
  options: CreateToolOptions<Schema, Output, Name>,
): DefinedTool<SchemaOutput<Schema>, Output, Name>
export function createTool(options: CreateToolOptions<ZodType, unknown>): unknown {
  const { func, ...others } = options
  if (typeof func !== 'function' || 'execute' in others) {
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${options.name}": createTool takes the function that runs it as func. For execute there is defineTool.`,
      { details: { toolName: options.name } },
    )
  }
  const { needsApproval = false, cache = false } = others
  // A call that needs approval changes something, unless it says otherwise; a cached one does not.
  const sideEffect = needsApproval !== false && cache === false
  return defineTool({ ...(sideEffect && { sideEffect }), ...others, execute: func })
}
