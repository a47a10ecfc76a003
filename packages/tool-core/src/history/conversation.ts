import type { ConversationMessage } from '../contract/task-context.ts'

/**
 * True when the conversation already holds a call and no result of it: the agent continues after an approval, or after a
 * reply of the model that was journaled. An id that has a result belongs to an older call, since some providers number
 * the calls of every reply alike.
 */
export function awaitsResult(
  messages: readonly ConversationMessage[],
  toolCallId: string,
): boolean {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index] as ConversationMessage
    if (message.role === 'user') return false
    for (const part of partsOf(message)) {
      if (part.toolCallId !== toolCallId) continue
      if (part.type === 'tool-result') return false
      if (part.type === 'tool-call') return !hasLaterResult(message, toolCallId)
    }
    // Only the last reply can be without results.
    if (message.role === 'assistant') return false
  }
  return false
}

/** The ids of the calls that the conversation holds before a call that awaits its result, else of all. */
export function callIdsBefore(
  messages: readonly ConversationMessage[],
  toolCallId: string,
): ReadonlySet<string> {
  const ids = new Set<string>()
  const lastReply = awaitsResult(messages, toolCallId)
    ? messages.findLastIndex(({ role }) => role === 'assistant')
    : -1
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    for (const part of partsOf(message)) {
      if (part.type !== 'tool-call' || part.toolCallId === undefined) continue
      if (index === lastReply && part.toolCallId === toolCallId) return ids
      ids.add(part.toolCallId)
    }
  }
  return ids
}

interface Part {
  readonly type?: string
  readonly toolCallId?: string
}

function partsOf(message: ConversationMessage): readonly Part[] {
  return Array.isArray(message.content) ? (message.content as readonly Part[]) : []
}

// Calls that a provider executes have their results in the same message.
function hasLaterResult(message: ConversationMessage, toolCallId: string): boolean {
  return partsOf(message).some(
    (part) => part.type === 'tool-result' && part.toolCallId === toolCallId,
  )
}
