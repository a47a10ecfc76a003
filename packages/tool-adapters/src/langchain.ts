import { randomUUID } from 'node:crypto'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { toJsonSchema } from '@langchain/core/utils/json_schema'
import {
  type AnyDefinedTool,
  type DefinedTool,
  getDefinedToolMetadata,
  SmithersError,
} from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { type AdaptOptions, adaptTool, type ForeignCall, type ForeignTool } from './foreign-tool.ts'
import { zodOf } from './json-schema.ts'
import { finalOutput } from './final-output.ts'

/** What is used of a tool of LangChain. */
export interface LangChainTool {
  readonly name: string
  readonly description: string
  /** Zod 3, Zod 4 or JSON Schema. */
  readonly schema: unknown
  invoke(input: never, config?: never): Promise<unknown>
}

/**
 * Puts a LangChain tool under the same gates, context and log as any other. See {@link adaptTool} about its flags. The
 * tool finds `toolCallId` and `idempotencyKey` in `config.configurable`.
 *
 * @throws SmithersError `INVALID_TOOL`
 */
export function fromLangChain(
  tool: LangChainTool,
  options: AdaptOptions = {},
): DefinedTool<unknown, unknown> {
  const { name, description } = tool
  const schema = options.schema ?? schemaOf(tool)
  const invoke = async (args: never, call: never): Promise<unknown> =>
    contentOf(await tool.invoke(plainArguments(name, args), configOf(call)))
  return adaptTool({ ...(tool as ForeignTool), name, description, schema, invoke }, options)
}

/**
 * Makes a LangChain tool of a defined one. Its calls belong to the surrounding run; a run's own tools stay bound to it.
 *
 * @throws SmithersError `INVALID_TOOL` for anything but a tool made with `defineTool`.
 */
export function toLangChain(tool: AnyDefinedTool): DynamicStructuredTool {
  const metadata = getDefinedToolMetadata(tool)
  if (metadata === null) {
    throw new SmithersError(
      'INVALID_TOOL',
      'toLangChain takes a tool made with defineTool or createTool.',
    )
  }
  const description: unknown = tool.description
  const execute = tool.execute as (args: unknown, options: unknown) => unknown
  return new DynamicStructuredTool({
    // LangChain hands names to providers, and those take no dots.
    name: metadata.name.replaceAll(/[^\w-]/g, '_'),
    // The AI SDK also takes a function of what only it knows.
    description: typeof description === 'string' ? description : metadata.name,
    schema: tool.inputSchema as never,
    func: (args: unknown, _runManager: unknown, config?: CallConfig) =>
      finalOutput(
        execute(args, {
          toolCallId: config?.toolCall?.id ?? `langchain_${randomUUID()}`,
          messages: [],
          ...(config?.signal === undefined ? {} : { abortSignal: config.signal }),
        }),
      ),
  })
}

interface CallConfig {
  readonly signal?: AbortSignal
  readonly toolCall?: { readonly id?: string }
}

function schemaOf({ name, schema }: LangChainTool): ZodType {
  if (typeof schema === 'object' && schema !== null && '_zod' in schema) return schema as ZodType
  return zodOf(toJsonSchema(schema as never), name)
}

/** LangChain would open arguments that look like a tool call and run what is in them, unvalidated. */
function plainArguments(toolName: string, args: unknown): never {
  const { type } = (args ?? {}) as { readonly type?: unknown }
  if (type !== 'tool_call') return args as never
  throw new SmithersError(
    'INVALID_INPUT',
    `Tool "${toolName}" was not run: LangChain takes arguments with the type "tool_call" for a tool call. Give the arguments alone.`,
    { details: { toolName }, effect: 'none' },
  )
}

function configOf({ signal, toolCallId, idempotencyKey }: ForeignCall): never {
  return { signal, configurable: { toolCallId, idempotencyKey } } as never
}

/** A tool may answer with a message for the model, whose content is the output. */
function contentOf(output: unknown): unknown {
  return typeof output === 'object' && output !== null && 'tool_call_id' in output
    ? (output as { readonly content?: unknown }).content
    : output
}
