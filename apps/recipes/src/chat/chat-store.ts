import type { UIMessage } from 'ai'
import { RefusedRequest } from './refused-request.ts'

export interface StoredChat {
  readonly messages: readonly UIMessage[]
  /** Counts the saves of this chat. 0 for a chat that was never saved. */
  readonly version: number
}

/** Where the server keeps its conversations: your database. The browser's copy is never the source. */
export interface ChatStore {
  load(chatId: string): Promise<StoredChat>
  /**
   * Replaces the messages and adds 1 to the version, atomically, and only while the stored version is `version`. With
   * SQL: `update … where id = ? and version = ?`, and a unique id for the first save. Another process of the server may
   * have saved since the load.
   *
   * @throws RefusedRequest with status 409 when the stored version is another one
   */
  save(chatId: string, messages: readonly UIMessage[], version: number): Promise<void>
}

/** Conversations in this process, kept as text: a reader that changes what it was given changes nothing here. */
export function createMemoryChatStore(): ChatStore {
  const chats = new Map<string, string>()
  const load = (chatId: string): StoredChat =>
    JSON.parse(chats.get(chatId) ?? '{"messages":[],"version":0}') as StoredChat
  return {
    load: async (chatId) => load(chatId),
    async save(chatId, messages, version) {
      if (load(chatId).version !== version) {
        throw new RefusedRequest(409, 'The chat has changed meanwhile. Load it again.')
      }
      chats.set(chatId, JSON.stringify({ messages, version: version + 1 }))
    },
  }
}
