import { createToolRun, type ToolRun } from '@smithers/tool-core'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { CallProgress } from '../calls/call-progress.ts'
import { resultOf } from '../calls/call-result.ts'
import type { ServedTool, ToolFields } from '../tools/served-tool.ts'
import type { CallRound } from './call-round.ts'
import type { ServerParts } from './server-parts.ts'

/** One round of a call, as a tool runs it. */
export interface MadeCall {
  readonly served: ServedTool
  readonly args: unknown
  readonly round: CallRound
  readonly signal: AbortSignal
  readonly progress: CallProgress
}

/**
 * Runs a call as a task of its own: a question would pause every other call of its task.
 *
 * @throws what the tool threw, and what makes its result worthless, such as a log that failed
 */
export async function makeCall(parts: ServerParts, call: MadeCall): Promise<CallToolResult> {
  const { served, args, round, progress } = call
  const run = runOfCall(parts, call)
  try {
    const bound = run.tools({ [served.name]: served.tool })[served.name] as unknown as BoundTool
    const options = { toolCallId: round.callId, messages: [] }
    const output = await lastOf(bound.execute(args, options), progress)
    await run.settle()
    const given = { toolCallId: round.callId, input: args, output }
    return await resultOf(bound, served.listed, given)
  } catch (error) {
    // Ends what the call has left running. Why the run cannot go on is what the call says already.
    await run.settle().catch(() => {})
    throw error
  }
}

/** Records the call of a tool that there is not. */
export async function recordUnknownTool(
  parts: ServerParts,
  call: Omit<MadeCall, 'served' | 'progress'>,
  toolName: string,
): Promise<void> {
  const run = runOfCall(parts, call)
  try {
    run.tools(Object.fromEntries([...parts.tools].map(([name, { tool }]) => [name, tool])))
    const error = Object.assign(new Error('unknown tool'), { name: 'AI_NoSuchToolError' })
    const { callId: toolCallId } = call.round
    const invalid = { invalid: true, toolCallId, toolName, input: call.args, error }
    await run.record({ toolCalls: [invalid] })
  } finally {
    await run.settle().catch(() => {})
  }
}

function runOfCall(
  { settings, journal }: ServerParts,
  { round, signal }: Pick<MadeCall, 'round' | 'signal'>,
): ToolRun {
  const { rootDir, allowNetwork, isolation, maxOutputBytes, toolTimeoutMs } = settings
  const { runId, callId, attempt, isNew } = round
  if (isNew) journal.beginNew(callId)
  else journal.beginAgain(callId)
  return createToolRun({
    runId,
    nodeId: callId,
    attempt,
    rootDir,
    allowNetwork,
    isolation,
    maxOutputBytes,
    timeoutMs: toolTimeoutMs,
    log: journal.log,
    abortSignal: signal,
    // Another attempt is the same call, and its client has not seen what the first one did.
    lineage: 'fresh',
    safety: 'reuse',
  })
}

interface BoundTool extends ToolFields {
  readonly execute: (args: unknown, options: object) => unknown
}

/** What a call resolves to, or the last value of a tool that streams. */
async function lastOf(output: unknown, progress: CallProgress): Promise<unknown> {
  const settled = await output
  if (!isStream(settled)) return settled
  let last: unknown
  for await (last of settled) progress.streamed(last)
  return last
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
