import type { ConversationMessage } from '../contract/task-context.ts'

/** The message by which a retry warning joins a conversation. */
export interface RetryWarningMessage {
  readonly role: 'user'
  readonly content: string
  /** Tells it from a user's text that quotes the marker, also after the history was stored and read back. */
  readonly providerOptions: { readonly smithers: { readonly retryWarning: true } }
}

/** True for a message that an earlier attempt added. */
export function isRetryWarning(message: ConversationMessage): boolean {
  const { providerOptions } = message as ConversationMessage & {
    readonly providerOptions?: { readonly smithers?: { readonly retryWarning?: unknown } }
  }
  return message.role === 'user' && providerOptions?.smithers?.retryWarning === true
}

/** Adds a warning as the last thing that the agent reads before it acts. */
export function withRetryWarning<Message extends ConversationMessage>(
  messages: readonly Message[],
  warning: string | null,
): (Message | RetryWarningMessage)[] {
  if (warning === null) return [...messages]
  const message: RetryWarningMessage = {
    role: 'user',
    content: warning,
    providerOptions: { smithers: { retryWarning: true } },
  }
  const index = indexOfWarning(messages)
  return [...messages.slice(0, index), message, ...messages.slice(index)]
}

// An approval must stay the last message, after the calls that it answers, or the AI SDK does not see it.
function indexOfWarning(messages: readonly ConversationMessage[]): number {
  const last = messages.at(-1)
  const answersApproval =
    last?.role === 'tool' &&
    Array.isArray(last.content) &&
    last.content.some((part: { readonly type?: unknown }) => part.type === 'tool-approval-response')
  if (!answersApproval) return messages.length
  return Math.max(
    messages.findLastIndex(({ role }) => role === 'assistant'),
    0,
  )
}
