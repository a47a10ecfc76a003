import { contextOfCall } from '../context/ambient-context.ts'
import { CallAbort } from '../async/call-abort.ts'
import { journalOf } from '../journal/attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { loggedInput } from '../journal/log-mappers.ts'
import { recordJson } from '../json/recorded-json.ts'
import { completeCallOptions, type ToolCallOptions } from '../contract/tool-call-options.ts'
import type { ToolContext } from '../contract/task-context.ts'
import { isNeeded } from './approve-call.ts'
import { promptText } from './create-approval-request.ts'

/** What the AI SDK 7 does with a call before it runs it. */
export type SdkApprovalStatus =
  | 'not-applicable'
  | { readonly type: 'user-approval'; readonly reason?: string }

/** What the AI SDK 7 asks about one call of one tool. */
export type SdkApprovalFunction = (
  input: unknown,
  options: Omit<ToolCallOptions, 'context'> & { readonly toolContext?: unknown },
) => Promise<SdkApprovalStatus>

/** The `toolApproval` of the AI SDK 7: a function for every tool that declares `needsApproval`. */
export type SdkToolApproval<Tools> = { [Key in keyof Tools]?: SdkApprovalFunction }

const approvalKey: unique symbol = Symbol.for('smithers.tool.approval') as never

/** The property under which a tool carries its declarations, as its metadata does; none for a tool without them. */
export function carryApproval(definition: ToolDefinition): object {
  if (definition.gates?.approval === undefined) return {}
  const ask: SdkApprovalFunction = (input, options) => askAbout(definition, input, options)
  return { [approvalKey]: ask }
}

/**
 * Maps `needsApproval` and `approvalPrompt` of tools to `toolApproval` of the AI SDK 7, which then pauses by itself. A
 * call that its user has approved runs without being asked about again.
 *
 * `needsApproval` functions get a context without the fields of a call that has begun: no key and no seq.
 *
 * @example
 * const tools = { read, placeOrder }
 * const result = await generateText({ model, prompt, tools, toolApproval: approvalFor(tools) })
 */
export function approvalFor<const Tools extends Readonly<Record<string, unknown>>>(
  tools: Tools,
): SdkToolApproval<Tools> {
  const asked = Object.entries(tools).flatMap(([key, tool]) => {
    if (typeof tool !== 'object' || tool === null) return []
    const { [approvalKey]: ask } = tool as { readonly [approvalKey]?: SdkApprovalFunction }
    return ask === undefined ? [] : [[key, ask] as const]
  })
  return Object.fromEntries(asked) as SdkToolApproval<Tools>
}

async function askAbout(
  definition: ToolDefinition,
  input: unknown,
  options: Parameters<SdkApprovalFunction>[1],
): Promise<SdkApprovalStatus> {
  const { gates, metadata } = definition
  const approval = gates?.approval
  if (approval === undefined) return 'not-applicable'
  const call = completeCallOptions({ ...options, context: options.toolContext })
  const task = contextOfCall(call)
  const { policy } = journalOf(task)
  const context: ToolContext = {
    ...task,
    toolName: metadata.name,
    sideEffect: metadata.sideEffect,
    idempotent: metadata.idempotent,
    idempotencyKey: '',
    seq: 0,
    occurrence: 0,
    toolCallId: call.toolCallId,
    messages: call.messages,
    context: call.context,
    experimental_sandbox: call.experimental_sandbox,
    abortSignal: new CallAbort(() => [call.abortSignal]).signal,
  }
  if (!(await isNeeded(approval, { args: input, context: () => context, definition, task })))
    return 'not-applicable'
  const seen = loggedInput(definition, input)
  const { json } = recordJson(seen, policy.redact, task.maxOutputBytes)
  const reason = promptText(approval.prompt, input, json, policy.redact)
  return { type: 'user-approval', ...(reason === undefined ? {} : { reason }) }
}
