import {
  type DefinedTool,
  defineTool,
  SmithersError,
  type ToolCallRow,
  type ToolContext,
} from '@smithers/tool-core'
import { archiveKey, type ArchivedOutput } from '@smithers/tool-core/log'
import { z } from 'zod'

/** What an agent gives `get_tool_response`. */
export interface GetToolResponseInput {
  /** The id in the note of a cut output, or the `toolCallId` of a call. */
  readonly id: string
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

/** A part of an output, as the agent reads it. */
export interface ToolResponse {
  readonly toolName: string
  /** All bytes of the output. */
  readonly bytes: number
  readonly offset: number
  readonly text: string
  /** Where to continue; null at the end. */
  readonly nextOffset: number | null
  /** Said when the rest was never kept. */
  readonly note?: string
}

/**
 * Makes the tool that reads full outputs: those that the run's `maxInlineOutputBytes` cut, and
 * every other recorded output of the run, by the id of the execution or of the tool call.
 *
 * @param options `maxBytes`: most that one answer holds. @default 50_000
 */
export function createGetToolResponse(
  options: { readonly maxBytes?: number } = {},
): DefinedTool<GetToolResponseInput, ToolResponse, 'get_tool_response'> {
  const { maxBytes = 50_000 } = options
  return defineTool({
    name: 'get_tool_response',
    description:
      'Read the full output of an earlier tool call of this run: one that was cut, or one that the conversation no longer holds. Give the id from the note at the cut, or the id of the tool call.',
    schema: z.object({
      id: z.string().min(1),
      offset: z.int().min(0).optional().describe('First byte. Default 0.'),
      limit: z.int().min(1).max(maxBytes).optional().describe(`Most bytes. Default ${maxBytes}.`),
    }),
    // What it reads is in the log already, and cutting it would lead back to it.
    archivesOutput: false,
    logOutput: ({ text, ...others }: ToolResponse) => ({
      ...others,
      textBytes: Buffer.byteLength(text),
    }),
    execute: async ({ id, offset = 0, limit = maxBytes }, ctx): Promise<ToolResponse> => {
      const row = await callOf(ctx, id)
      if (row === undefined) throw notFound(id)
      const archived = await archivedOutput(ctx, row.callToken)
      return archived === undefined
        ? partOf(row, recordedText(row), offset, limit, truncationNote(row))
        : partOf(row, archived, offset, limit)
    },
  })
}

/**
 * The finished call of this run with an id. Providers may use an id of a tool call again, in another task or attempt:
 * then it is the one that this task made last, or else the last of the run.
 */
async function callOf(ctx: ToolContext, id: string): Promise<ToolCallRow | undefined> {
  const { log, runId, nodeId, iteration } = ctx
  const [byToken] = await log.list({ runId, callToken: id, limit: 1 })
  if (byToken !== undefined) return isReadable(byToken) ? byToken : undefined
  const newest = { runId, toolCallId: id, order: 'descending' } as const
  const ofTask = await log.list({ ...newest, nodeId, iteration })
  return ofTask.find(isReadable) ?? (await log.list(newest)).find(isReadable)
}

function isReadable({ toolName, status }: ToolCallRow): boolean {
  return toolName !== 'get_tool_response' && status !== 'started'
}

async function archivedOutput(
  { log, runId }: ToolContext,
  callToken: string,
): Promise<string | undefined> {
  const entry = await log.state?.get(runId, archiveKey(callToken))
  return entry === undefined ? undefined : (JSON.parse(entry.valueJson) as ArchivedOutput).text
}

/** A text output as it was, anything else as JSON. */
function recordedText({ outputJson, errorJson, status }: ToolCallRow): string {
  if (status === 'error') return errorJson ?? ''
  const output: unknown = outputJson === null ? '' : JSON.parse(outputJson)
  if (isTruncated(output)) return output.head
  return typeof output === 'string' ? output : (outputJson ?? '')
}

function truncationNote({ outputJson }: ToolCallRow): string | undefined {
  const output: unknown = outputJson === null ? null : JSON.parse(outputJson)
  if (!isTruncated(output)) return undefined
  return `Only the beginning of ${output.bytes} bytes was kept, as JSON. Call the tool again for less.`
}

function isTruncated(output: unknown): output is { readonly head: string; readonly bytes: number } {
  return typeof output === 'object' && output !== null && '$truncated' in output
}

function partOf(
  { toolName }: ToolCallRow,
  text: string,
  offset: number,
  limit: number,
  note?: string,
): ToolResponse {
  const bytes = Buffer.from(text)
  const start = characterStart(bytes, Math.min(offset, bytes.length))
  // At least one character, however small the limit.
  const cut = characterStart(bytes, Math.min(start + limit, bytes.length))
  const end = cut > start ? cut : nextCharacter(bytes, start)
  return {
    toolName,
    bytes: bytes.length,
    offset: start,
    text: bytes.toString('utf8', start, end),
    nextOffset: end < bytes.length ? end : null,
    ...(note === undefined ? {} : { note }),
  }
}

function characterStart(bytes: Buffer, index: number): number {
  let start = index
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}

function nextCharacter(bytes: Buffer, index: number): number {
  let next = Math.min(index + 1, bytes.length)
  while (next < bytes.length && ((bytes[next] ?? 0) & 0xc0) === 0x80) next += 1
  return next
}

function notFound(id: string): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `No finished call of this run has the id ${JSON.stringify(id)}. Give the id from the note at the cut, or the id of a tool call of this run.`,
    { details: { id }, effect: 'none' },
  )
}
