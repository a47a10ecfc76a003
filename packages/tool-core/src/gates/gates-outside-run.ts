import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import { RunGates } from './run-gates.ts'

// An agent hands over the same messages, and more, with each of its steps: they are all that its calls have in common.
const ofConversation = new WeakMap<object, RunGates>()
const ofTool = new WeakMap<ToolDefinition, RunGates>()

/**
 * What the calls of one conversation share outside any run; undefined for a call that comes without a conversation.
 *
 * @remarks Does not recognise a conversation whose messages were all made anew, as `streamText` of AI SDK 5 does with a
 *   `prompt` after its first step.
 */
export function gatesOfConversation(
  messages: readonly ConversationMessage[],
): RunGates | undefined {
  // A system prompt may be one object for all conversations of a program.
  const turns = messages.filter(({ role }) => role !== 'system')
  if (turns.length === 0) return undefined
  let gates: RunGates | undefined
  for (const turn of turns) gates ??= ofConversation.get(turn)
  gates ??= new RunGates()
  for (const turn of turns) ofConversation.set(turn, gates)
  return gates
}

/**
 * What the limit and the breaker of a tool look at outside any run: the calls of the conversation, else all calls that
 * come without one. So they apply without a run too, if only as long as the process.
 */
export function gatesOutsideRun(
  definition: ToolDefinition,
  messages: readonly ConversationMessage[],
): RunGates {
  const known = gatesOfConversation(messages) ?? ofTool.get(definition)
  if (known !== undefined) return known
  const gates = new RunGates()
  ofTool.set(definition, gates)
  return gates
}

const warned = new WeakSet<ToolDefinition>()

/** Says once what the gates of a tool are worth outside a run. */
export function warnOfGatesOutsideRun(definition: ToolDefinition): void {
  if (warned.has(definition)) return
  warned.add(definition)
  const { metadata, gates, warn } = definition
  const names = [
    gates?.limit && 'maxExecutionsPerRun',
    gates?.breaker && 'retry.circuitBreakerThreshold',
    gates?.cache && 'cache',
  ].filter((name) => name !== undefined)
  if (names.length === 0) return
  warn(
    `Tool "${metadata.name}" was called outside a run, so its ${names.join(', ')} can only look at the calls of one conversation in this process, or at those that come without a conversation. Call it through createToolRun(…).tools(…), or within runWithToolContext.`,
  )
}
