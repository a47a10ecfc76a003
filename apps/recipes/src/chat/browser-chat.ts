import { Chat as BrowserChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'

/** The chat of a page: `useChat({ chat })`. Give it the messages that the server has. */
export function createBrowserChat(
  id: string,
  messages: UIMessage[],
  api = '/api/chat',
): BrowserChat<UIMessage> {
  return new BrowserChat({
    id,
    messages,
    transport: new DefaultChatTransport({
      api,
      // The newest message alone: the server has the others, and believes no copy of them.
      prepareSendMessagesRequest: ({ messages: all }) => ({ body: { id, message: all.at(-1) } }),
    }),
    // Continues by itself when the last open approval has its answer.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
}
