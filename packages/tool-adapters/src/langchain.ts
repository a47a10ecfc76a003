import { randomUUID } from 'node:crypto'
import type { DynamicStructuredTool } from '@langchain/core/tools'
import {
  type AnyDefinedTool,
  type DefinedTool,
  getDefinedToolMetadata,
  SmithersError,
} from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { type AdaptOptions, adaptTool } from './foreign-tool.ts'

/** What is used of a tool of LangChain. */
export interface LangChainTool {
  readonly name: string
  readonly description: string
  /** Zod 3, Zod 4 or JSON Schema. */
  readonly schema: unknown
  invoke(input: never, config?: never): Promise<unknown>
}

/**
 * Puts a LangChain tool under the same gates, context and log as any other. See {@link adaptTool} about its flags.
 *
 * @throws SmithersError `INVALID_TOOL`
 */
export async function fromLangChain(
  tool: LangChainTool,
  options: AdaptOptions = {},
): Promise<DefinedTool<unknown, unknown>> {
  const schema = options.schema ?? (await schemaOf(tool.schema))
  return adaptTool(tool, { ...options, schema })
}

/**
 * Makes a LangChain tool of a defined one. Its calls belong to the surrounding run; a run's own tools stay bound to it.
 * Needs `@langchain/core`.
 *
 * @throws SmithersError `INVALID_TOOL` for anything but a tool made with `defineTool`.
 */
export async function toLangChain(tool: AnyDefinedTool): Promise<DynamicStructuredTool> {
  const metadata = getDefinedToolMetadata(tool)
  if (metadata === null) {
    throw new SmithersError(
      'INVALID_TOOL',
      'toLangChain takes a tool made with defineTool or createTool.',
    )
  }
  const execute = tool.execute as (args: unknown, options: unknown) => unknown
  const { DynamicStructuredTool: Tool } = await import('@langchain/core/tools')
  return new Tool({
    // LangChain hands names to providers, and those take no dots.
    name: metadata.name.replaceAll(/[^\w-]/g, '_'),
    description: tool.description,
    schema: tool.inputSchema as never,
    func: async (args: unknown, _runManager: unknown, config?: CallConfig) => {
      const output = execute(args, {
        toolCallId: config?.toolCall?.id ?? `langchain_${randomUUID()}`,
        messages: [],
        ...(config?.signal === undefined ? {} : { abortSignal: config.signal }),
      })
      return isStream(output) ? lastOf(output) : output
    },
  })
}

interface CallConfig {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
}

async function schemaOf(schema: unknown): Promise<ZodType> {
  if (typeof schema === 'object' && schema !== null && '_zod' in schema) return schema as ZodType
  const [{ toJsonSchema }, { fromJSONSchema }] = await Promise.all([
    import('@langchain/core/utils/json_schema'),
    import('zod'),
  ])
  const json = toJsonSchema(schema as never) as Parameters<typeof fromJSONSchema>[0]
  return fromJSONSchema(json)
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  for await (const value of values) last = value
  return last
}
