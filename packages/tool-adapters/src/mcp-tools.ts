import { type DefinedTool, defineTool, SmithersError } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { AdaptOptions } from './foreign-tool.ts'
import {
  callMcpTool,
  listMcpTools,
  type McpAnnotations,
  type McpClient,
  type McpToolDefinition,
  type McpToolResult,
} from './mcp-client.ts'

/** Options of {@link mcpTools}. */
export interface McpToolsOptions {
  /** What `defineTool` is told of one tool, over what the server's hints say. */
  readonly configure?: (
    tool: McpToolDefinition,
  ) => Omit<AdaptOptions, 'name' | 'schema'> | undefined
  /** Put before every name, to keep servers apart. @default '' */
  readonly prefix?: string
  /** Believe the server's hints. Without them every tool counts as a side effect. @default true */
  readonly trustAnnotations?: boolean
}

/**
 * Makes defined tools of all tools of an MCP server, by name: the same gates, context and log as any other. Reads the
 * list once; an error that the server reports is an error of the call.
 *
 * `readOnlyHint` makes a tool one without side effect, `idempotentHint` one that may be repeated. A tool without hints,
 * and one that claims to be read-only and destructive at once, is a side effect that must not be repeated by accident.
 */
export async function mcpTools(
  client: McpClient,
  options: McpToolsOptions = {},
): Promise<Record<string, DefinedTool<unknown, unknown>>> {
  const { configure, prefix = '', trustAnnotations = true } = options
  const definitions = await listMcpTools(client)
  // Loaded here: only a server's JSON Schemas need it.
  const { fromJSONSchema } = await import('zod')
  const tools = definitions.map((definition) => {
    const { name, description, inputSchema, annotations } = definition
    const schema = fromJSONSchema(inputSchema as Parameters<typeof fromJSONSchema>[0])
    const flags = trustAnnotations ? flagsOf(annotations) : flagsOf(undefined)
    const settings = {
      ...(description === undefined ? {} : { description }),
      ...flags,
      ...configure?.(definition),
    }
    return [`${prefix}${name}`, toolOf(client, definition, `${prefix}${name}`, schema, settings)]
  })
  return Object.fromEntries(tools) as Record<string, DefinedTool<unknown, unknown>>
}

/** The two flags that a server's hints amount to. */
function flagsOf(hints: McpAnnotations | undefined): {
  readonly sideEffect: boolean
  readonly idempotent: boolean
} {
  const contradictory = hints?.readOnlyHint === true && hints.destructiveHint === true
  if (hints?.readOnlyHint === true && !contradictory) return { sideEffect: false, idempotent: true }
  return { sideEffect: true, idempotent: hints?.idempotentHint === true && !contradictory }
}

function toolOf(
  client: McpClient,
  { name: remoteName }: McpToolDefinition,
  name: string,
  schema: ZodType,
  settings: Omit<AdaptOptions, 'name' | 'schema'>,
): DefinedTool<unknown, unknown> {
  return defineTool({
    ...settings,
    name,
    schema,
    execute: async (args: unknown, ctx) =>
      outputOf(name, await callMcpTool(client, remoteName, args, ctx.abortSignal)),
  })
}

/** What the agent gets: the structured content, else the text, else the parts as they are. */
function outputOf(name: string, result: McpToolResult): unknown {
  const { content = [], structuredContent, isError, toolResult } = result
  const texts = content.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : []))
  if (isError === true) {
    throw new SmithersError(
      'TOOL_FAILED',
      texts.join('\n') || `Tool "${name}" reported an error without a message.`,
      { details: { toolName: name } },
    )
  }
  if (structuredContent !== undefined) return structuredContent
  if (toolResult !== undefined) return toolResult
  return texts.length === content.length ? texts.join('\n') : content
}
