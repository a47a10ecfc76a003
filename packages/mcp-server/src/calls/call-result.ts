import { isSmithersError } from '@smithers/tool-core'
import type { CallToolResult, ContentBlock, Tool } from '@modelcontextprotocol/server'
import type { ToolFields } from '../tools/served-tool.ts'

/** What a tool of the AI SDK shows a model of its output. */
interface ShownOutput {
  readonly type: string
  readonly value?: unknown
  readonly reason?: string | undefined
}

/** The result of a call that succeeded: what the model is shown, and an object also in its structure. */
export async function resultOf(
  tool: Pick<ToolFields, 'toModelOutput'>,
  listed: Pick<Tool, 'outputSchema'>,
  call: { readonly toolCallId: string; readonly input: unknown; readonly output: unknown },
): Promise<CallToolResult> {
  const shown = (await tool.toModelOutput?.(call)) as ShownOutput | undefined
  const result: CallToolResult = {
    content: contentOf(shown ?? { type: 'json', value: call.output }),
  }
  if (shown?.type === 'error-text' || shown?.type === 'execution-denied') {
    return { ...result, isError: true }
  }
  const isStructured = shown?.type === 'json' || listed.outputSchema !== undefined
  const structured = isStructured ? plainObject(call.output) : undefined
  return structured === undefined ? result : { ...result, structuredContent: structured }
}

/** The result of a call that failed. Agents read it; they do not see protocol errors. */
export function errorResult(error: unknown): CallToolResult {
  const code = isSmithersError(error) ? error.code : 'TOOL_FAILED'
  const message = error instanceof Error ? error.message : String(error)
  return { isError: true, content: [{ type: 'text', text: `[${code}] ${message}` }] }
}

function contentOf({ type, value, reason }: ShownOutput): ContentBlock[] {
  if (type === 'content' && Array.isArray(value)) return value.map(blockOf)
  if (type === 'execution-denied') return [text(reason ?? 'The call was denied.')]
  return [text(typeof value === 'string' ? value : JSON.stringify(value ?? null))]
}

/** A model may take an empty text for a failure. */
function text(value: string): ContentBlock {
  return { type: 'text', text: value === '' ? '(no output)' : value }
}

/** A part of an output, as the AI SDK 5 to 7 name them. */
interface OutputPart {
  readonly type?: string
  readonly text?: string
  readonly data?: string
  readonly mediaType?: string
}

function blockOf(part: unknown): ContentBlock {
  const { type, text: words, data, mediaType } = part as OutputPart
  if (type === 'text') return text(words ?? '')
  if (typeof data !== 'string' || typeof mediaType !== 'string') return text(JSON.stringify(part))
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType }
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType }
  const resource = { uri: 'smithers-output://part', mimeType: mediaType, blob: data }
  return { type: 'resource', resource }
}

/** An object as JSON says it; undefined for anything else. */
function plainObject(output: unknown): Record<string, unknown> | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined
  try {
    return JSON.parse(JSON.stringify(output)) as Record<string, unknown>
  } catch {
    return undefined
  }
}
