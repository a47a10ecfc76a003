import {
  type DefinedTool,
  defineTool,
  type DefineToolOptions,
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

/**
 * Makes a tool from the shape of the agent SDK (S4 §createTool). Apart from the name of the function it is
 * `defineTool`: the same gates, context and log.
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
  options: CreateToolOptions<Schema, Output, Name>,
): DefinedTool<SchemaOutput<Schema>, Output, Name> {
  const { func, ...others } = options
  const settings = { ...others, execute: func } as unknown as DefineToolOptions<
    Schema,
    Output,
    Name
  >
  return defineTool(settings)
}
