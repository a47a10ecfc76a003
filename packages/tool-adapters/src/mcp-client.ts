/** Hints of a server about a tool. They are claims, not promises. */
export interface McpAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly idempotentHint?: boolean
  readonly destructiveHint?: boolean
}

/** A tool as an MCP server lists it. */
export interface McpToolDefinition {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: unknown
  readonly annotations?: McpAnnotations | undefined
}

/** What a call of an MCP tool came to. */
export interface McpToolResult {
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  /** Of servers older than the specification. */
  readonly toolResult?: unknown
}

/** `Client` of `@modelcontextprotocol/sdk`, or `createMCPClient` of `@ai-sdk/mcp`: both fit. */
export interface McpClient {
  listTools(...parameters: never): Promise<unknown>
  callTool(...parameters: never): Promise<unknown>
  /** Only the AI SDK's client has it. */
  readonly toolsFromDefinitions?: unknown
}

/** Lists every page of a server's tools. */
export async function listMcpTools(client: McpClient): Promise<readonly McpToolDefinition[]> {
  const list = client.listTools.bind(client) as (options: object) => Promise<ToolPage>
  const tools: McpToolDefinition[] = []
  let cursor: string | undefined
  do {
    const params = cursor === undefined ? {} : { cursor }
    const page = await list(isAiSdkClient(client) ? { params } : params)
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tools
}

/** Calls a tool of a server. */
export async function callMcpTool(
  client: McpClient,
  name: string,
  args: unknown,
  signal: AbortSignal,
): Promise<McpToolResult> {
  const request = { name, arguments: args }
  const call = client.callTool.bind(client) as (...parameters: unknown[]) => Promise<McpToolResult>
  return isAiSdkClient(client)
    ? call({ ...request, options: { signal } })
    : call(request, undefined, { signal })
}

interface ToolPage {
  readonly tools: readonly McpToolDefinition[]
  readonly nextCursor?: string
}

function isAiSdkClient(client: McpClient): boolean {
  return typeof client.toolsFromDefinitions === 'function'
}
