import { SmithersError } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { McpContentPart, McpToolResult } from './mcp-client.ts'

/**
 * What a program gets of an answer: the structured content, else the text. An answer with images, sounds or resources
 * is its parts as they are, with the structured content beside them if there is any.
 *
 * @throws SmithersError `TOOL_FAILED` for an answer that says of itself that it is an error, and for structured content
 *   that does not fit what the server said of it.
 */
export function outputOf(
  toolName: string,
  result: McpToolResult,
  outputSchema: ZodType | undefined,
): unknown {
  const { content = [], structuredContent, isError, toolResult } = result
  const text = content.map(textOf).join('\n')
  if (isError === true) {
    throw new SmithersError(
      'TOOL_FAILED',
      text || `Tool "${toolName}" reported an error without a message.`,
      { details: { toolName } },
    )
  }
  const onlyText = content.every(({ type }) => type === 'text')
  if (structuredContent !== undefined) {
    const issue = outputSchema?.safeParse(structuredContent).error?.issues[0]
    if (issue !== undefined) throw unfit(toolName, issue)
    return onlyText ? structuredContent : { content, structuredContent }
  }
  if (toolResult !== undefined) return toolResult
  return onlyText ? text : content
}

function unfit(
  toolName: string,
  { path, message }: { readonly path: readonly PropertyKey[]; readonly message: string },
): SmithersError {
  return new SmithersError(
    'TOOL_FAILED',
    `Tool "${toolName}" answered with structured content that does not fit its own outputSchema, at ${path.map(String).join('.') || 'its root'}: ${message}. It has run.`,
    { details: { toolName } },
  )
}

type ModelOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'content'; readonly value: readonly object[] }

/** What the AI SDK shows the model: images as images, and no base64 of anything else, which a model cannot read. */
export function toModelOutput(given: unknown): ModelOutput {
  // AI SDK 6 and 7 hand over an object, 5 the output alone, and it has another name for a file.
  const current = typeof given === 'object' && given !== null && 'toolCallId' in given
  const output: unknown = current ? (given as { readonly output?: unknown }).output : given
  if (typeof output === 'string') return { type: 'text', value: output }
  const parts = partsOf(output)
  if (parts === undefined) return { type: 'json', value: output ?? null }
  return { type: 'content', value: parts.map((part) => shown(part, current)) }
}

function partsOf(output: unknown): readonly McpContentPart[] | undefined {
  if (Array.isArray(output) && output.every(isPart)) return output
  if (typeof output !== 'object' || output === null || !('structuredContent' in output)) {
    return undefined
  }
  const { content, structuredContent } = output as McpToolResult
  const text = JSON.stringify(structuredContent)
  return content && [{ type: 'text', text }, ...content.filter(({ type }) => type !== 'text')]
}

function isPart(value: unknown): value is McpContentPart {
  return typeof value === 'object' && value !== null && 'type' in value
}

function shown(part: McpContentPart, current: boolean): object {
  const { data, mimeType = '' } = imageOf(part)
  if (data === undefined) return { type: 'text', text: textOf(part) }
  return { type: current ? 'image-data' : 'media', data, mediaType: mimeType }
}

function imageOf({ type, data, mimeType, resource }: McpContentPart): {
  readonly data?: string | undefined
  readonly mimeType?: string | undefined
} {
  if (type === 'image') return { data, mimeType }
  const isImage = resource?.mimeType?.startsWith('image/') === true
  return isImage ? { data: resource.blob, mimeType: resource.mimeType } : {}
}

/** A part as text; bytes are only named. */
function textOf(part: McpContentPart): string {
  const { type, text, data, mimeType = 'unknown', resource } = part
  if (type === 'text') return text ?? ''
  if (resource?.text !== undefined) return `${resource.uri}\n${resource.text}`
  if (resource?.blob !== undefined) {
    return `[${resource.uri}: ${resource.mimeType ?? mimeType}, ${bytesOf(resource.blob)} bytes]`
  }
  return data === undefined
    ? JSON.stringify(part)
    : `[${type}: ${mimeType}, ${bytesOf(data)} bytes]`
}

function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}
