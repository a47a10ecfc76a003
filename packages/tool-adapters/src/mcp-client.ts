/** Hints of a server about a tool. They are claims, not promises. */
export interface McpAnnotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  /** The tool reaches what the server does not know, such as the web. */
  readonly openWorldHint?: boolean | undefined
}

/** A tool as an MCP server lists it. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: unknown
  /** What its structured content looks like. */
  readonly outputSchema?: unknown
  readonly annotations?: McpAnnotations | undefined
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined
}

/** A part of what an MCP tool answers: text, an image, a sound, a resource or a link to one. */
export interface McpContentPart {
  readonly type: string
  readonly text?: string
  /** Base64. */
  readonly data?: string
  readonly mimeType?: string
  readonly resource?: {
    readonly uri: string
    readonly mimeType?: string
    readonly text?: string
    /** Base64. */
    readonly blob?: string
  }
}

/** What a call of an MCP tool came to. */
export interface McpToolResult {
  readonly content?: readonly McpContentPart[]
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
  /** Only the MCP SDK's client has it: for tools that run as tasks. */
  readonly experimental?: unknown
}

/** Lists every page of a server's tools. Ends with any server, also with one whose pages never end. */
export async function listMcpTools(client: McpClient): Promise<readonly McpToolDefinition[]> {
  const list = client.listTools.bind(client) as (options: object) => Promise<ToolPage>
  const tools: McpToolDefinition[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const params = cursor === undefined ? {} : { cursor }
    const page = await list(isAiSdkClient(client) ? { params } : params)
    tools.push(...page.tools)
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined) return tools
    if (seen.has(cursor)) throw new Error('The server lists the same page again and again.')
    seen.add(cursor)
  } while (seen.size < mostPages && tools.length < mostTools)
  throw new Error(`The server lists more than ${tools.length} tools on ${seen.size} pages.`)
}

const mostPages = 1000
const mostTools = 10_000

/** Calls a tool of a server. No time but the signal's ends it. */
export async function callMcpTool(
  client: McpClient,
  { name, execution }: McpToolDefinition,
  args: unknown,
  signal: AbortSignal,
): Promise<McpToolResult> {
  const request = { name, arguments: args }
  if (execution?.taskSupport === 'required') return runMcpTask(client, request, signal)
  const call = client.callTool.bind(client) as (...parameters: unknown[]) => Promise<McpToolResult>
  return isAiSdkClient(client)
    ? call({ ...request, options: { signal } })
    : call(request, undefined, { signal, timeout: longestTimeoutMs })
}

// The MCP SDK would give up after a minute of its own.
const longestTimeoutMs = 2 ** 31 - 1

async function runMcpTask(
  client: McpClient,
  request: object,
  signal: AbortSignal,
): Promise<McpToolResult> {
  const { tasks } = (client.experimental ?? {}) as { readonly tasks?: TaskClient }
  if (tasks === undefined) {
    throw new Error('The tool runs as a task, which only the client of the MCP SDK can call.')
  }
  const options = { signal, timeout: longestTimeoutMs, task: {} }
  for await (const message of tasks.callToolStream(request, undefined, options)) {
    if (message.type === 'result' && message.result !== undefined) return message.result
    if (message.type === 'error') throw message.error
  }
  throw new Error('The task ended without a result.')
}

interface TaskClient {
  callToolStream(...parameters: unknown[]): AsyncIterable<{
    readonly type: string
    readonly result?: McpToolResult
    readonly error?: Error
  }>
}

interface ToolPage {
  readonly tools: readonly McpToolDefinition[]
  readonly nextCursor?: string | null
}

function isAiSdkClient(client: McpClient): boolean {
  return typeof client.toolsFromDefinitions === 'function'
}
