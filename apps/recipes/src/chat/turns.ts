/** Waits until every earlier turn of the chat has ended. Call what it resolves with to end this turn. */
export type EnterTurn = (chatId: string) => Promise<() => void>

/** One turn at a time for each chat, in this process. Several processes rely on the version of the `ChatStore`. */
export function createTurns(): EnterTurn {
  const last = new Map<string, Promise<void>>()
  return async (chatId) => {
    const before = last.get(chatId)
    const { promise, resolve } = Promise.withResolvers<void>()
    last.set(chatId, promise)
    await before
    return () => {
      if (last.get(chatId) === promise) last.delete(chatId)
      resolve()
    }
  }
}
