import {
  type DefinedTool,
  defineTool,
  type DefineToolOptions,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { AdaptOptions } from './foreign-tool.ts'
import { zodOf } from './json-schema.ts'
import { type RemoteTool, runMcpCall } from './mcp-call.ts'
import {
  listMcpTools,
  type McpAnnotations,
  type McpClient,
  type McpToolDefinition,
} from './mcp-client.ts'
import { toModelOutput } from './mcp-output.ts'

/** Options of {@link mcpTools}. */
export interface McpToolsOptions {
  /**
   * Options of `defineTool` for one tool, over what the server says of it: gates, other flags, another `name`, a
   * `schema` that checks more. `null` leaves the tool out.
   */
  readonly configure?: (tool: McpToolDefinition) => AdaptOptions | null | undefined
  /** Put before every name, to keep servers apart. @default '' */
  readonly prefix?: string
  /** Believe the server's hints. Without them every tool counts as a side effect. @default true */
  readonly trustAnnotations?: boolean
}

/**
 * Makes defined tools of all tools of an MCP server, by names that providers accept (`.` and all else becomes `_`): the
 * same gates, context and log as any other. Reads the list once; call it again when the server says that the list has
 * changed. A call takes at most `timeoutMs` of the tool, else of the run; ended early, it is cancelled at the server by
 * clients that can. Every failure is `TOOL_FAILED`, also one that the server reports.
 *
 * `readOnlyHint` makes a tool one without side effect, `idempotentHint` one that may be repeated. A tool without hints,
 * and one that claims to be read-only and destructive at once, is a side effect that must not be repeated by accident.
 *
 * @throws SmithersError `TOOL_FAILED` when the server does not list its tools; `INVALID_TOOL` for a tool that cannot be
 *   offered: a name that is too long or taken, a schema that is nested too deeply.
 */
export async function mcpTools(
  client: McpClient,
  options: McpToolsOptions = {},
): Promise<Record<string, DefinedTool<unknown, unknown>>> {
  const { configure, prefix = '', trustAnnotations = true } = options
  const tools = new Map<string, DefinedTool<unknown, unknown>>()
  for (const definition of await listed(client)) {
    const settings = configure === undefined ? {} : configure(definition)
    if (settings === null) continue
    const { name = `${prefix}${definition.name}` } = settings ?? {}
    const key = safeName(name)
    if (tools.has(key)) throw invalid(name, `has a name that another tool has too, "${key}".`)
    const hints = trustAnnotations ? definition.annotations : undefined
    // One flag from here and the other from the server would contradict both.
    const flags = settings?.sideEffect === undefined ? flagsOf(hints) : {}
    tools.set(key, toolOf(client, definition, { ...flags, ...settings, name }))
  }
  return Object.fromEntries(tools)
}

async function listed(client: McpClient): Promise<readonly McpToolDefinition[]> {
  try {
    return await listMcpTools(client)
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause)
    throw new SmithersError('TOOL_FAILED', `The MCP server did not list its tools: ${said}`, {
      cause,
      effect: 'none',
    })
  }
}

const longestName = 64

/** As `toolset` does, and with the same limit. */
function safeName(name: string): string {
  const safe = name.replaceAll(/[^\w-]/g, '_')
  if (safe.length <= longestName) return safe
  throw invalid(name, `has a name of ${safe.length} characters; providers accept ${longestName}.`)
}

function invalid(name: string, what: string): SmithersError {
  return new SmithersError(
    'INVALID_TOOL',
    `MCP tool "${printable(name)}" ${what} Give it another with configure: () => ({ name }), a whole server a prefix, or leave it out with configure: () => null.`,
    { details: { toolName: printable(name) } },
  )
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
  definition: McpToolDefinition,
  settings: AdaptOptions & { readonly name: string },
): DefinedTool<unknown, unknown> {
  const {
    description,
    inputSchema,
    outputSchema,
    annotations,
    title = annotations?.title,
  } = definition
  const { schema, timeoutMs } = settings
  const name = printable(settings.name)
  const { retry, sideEffect = false, idempotent = !sideEffect } = settings
  if ((retry?.maxRetries ?? 0) > 0 && sideEffect && !idempotent) {
    throw new SmithersError(
      'INVALID_TOOL',
      `MCP tool "${name}": retry would repeat a side effect, since a server takes no idempotency key. Remove retry, or set idempotent: true for a tool that is safe to repeat.`,
      { details: { toolName: name } },
    )
  }
  const remote: RemoteTool = {
    client,
    definition,
    outputSchema: outputSchema === undefined ? undefined : zodOf(outputSchema, name),
    timeoutMs,
  }
  const options = {
    ...(description === undefined ? {} : { description: withoutControls(description) }),
    ...(title === undefined ? {} : { title: withoutControls(title) }),
    toModelOutput,
    // A server takes no key.
    acceptsContext: true,
    ...settings,
    name,
    schema: schema ?? zodOf(inputSchema, name),
    execute: (args: unknown, ctx: ToolContext) => runMcpCall(remote, args, ctx),
  }
  return defineTool(options as DefineToolOptions<ZodType, unknown>)
}

/** A name is shown in logs and terminals, and a server chooses it. */
function printable(name: string): string {
  return name.replaceAll(/[\p{C}\p{Z}]/gu, '_')
}

function withoutControls(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, '')
}
