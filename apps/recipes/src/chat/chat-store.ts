import type { UIMessage } from 'ai'

/** Where the server keeps its conversations: your database. The browser's copy is never the source. */
export interface ChatStore {
  load(chatId: string): Promise<readonly UIMessage[]>
  save(chatId: string, messages: readonly UIMessage[]): Promise<void>
}

/** Conversations in this process, kept as text: a reader that changes what it was given changes nothing here. */
export function createMemoryChatStore(): ChatStore {
  const chats = new Map<string, string>()
  return {
    load: async (chatId) => JSON.parse(chats.get(chatId) ?? '[]') as UIMessage[],
    save: async (chatId, messages) => void chats.set(chatId, JSON.stringify(messages)),
  }
}
