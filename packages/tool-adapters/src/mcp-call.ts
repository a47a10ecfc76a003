import { isSmithersError, SmithersError, type ToolContext } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { callMcpTool, type McpClient, type McpToolDefinition } from './mcp-client.ts'
import { outputOf } from './mcp-output.ts'
import { settleAfterAbort } from './settle-after-abort.ts'

/** A tool of a server, as its calls need it. */
export interface RemoteTool {
  readonly client: McpClient
  readonly definition: McpToolDefinition
  /** What structured content must fit. */
  readonly outputSchema: ZodType | undefined
  /** @default that of the run */
  readonly timeoutMs: number | undefined
}

/**
 * Runs one call at its server, until it is aborted or its time is up.
 *
 * @throws SmithersError `TOOL_TIMEOUT`, `TOOL_ABORTED`, and `TOOL_FAILED` for all else: what the server reports, a
 *   connection that ends, an answer that does not fit.
 */
export async function runMcpCall(
  { client, definition, outputSchema, timeoutMs: ownTimeoutMs }: RemoteTool,
  args: unknown,
  { toolName, abortSignal, timeoutMs: timeoutOfRunMs }: ToolContext,
): Promise<unknown> {
  const timeoutMs = ownTimeoutMs ?? timeoutOfRunMs
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(timedOut(toolName, timeoutMs)), timeoutMs)
  const signal = AbortSignal.any([abortSignal, limit.signal])
  try {
    const work = callMcpTool(client, definition, args, signal)
    const result = await settleAfterAbort(work, { signal, toolName })
    return outputOf(toolName, result, outputSchema)
  } catch (error) {
    throw failureOf(toolName, error, signal)
  } finally {
    clearTimeout(timer)
  }
}

function timedOut(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `Tool "${toolName}" had no answer of its MCP server within ${timeoutMs} ms. Whether it ran is unknown.`,
    { details: { toolName, timeoutMs } },
  )
}

function failureOf(toolName: string, error: unknown, signal: AbortSignal): SmithersError {
  // Clients say in words of their own that they were aborted.
  if (signal.aborted && isSmithersError(signal.reason)) return signal.reason
  if (isSmithersError(error)) return error
  const said = error instanceof Error ? error.message : String(error)
  if (signal.aborted) {
    return new SmithersError('TOOL_ABORTED', `Tool "${toolName}" was aborted: ${said}`, {
      details: { toolName },
      cause: error,
    })
  }
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return new SmithersError('TOOL_FAILED', `Tool "${toolName}" failed: ${said}`, {
    details: { toolName, ...(typeof code === 'number' ? { mcpCode: code } : {}) },
    cause: error,
  })
}
