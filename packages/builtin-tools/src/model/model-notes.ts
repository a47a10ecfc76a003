/** Notes of as many calls as can be under way or about to be read. */
const maxRemembered = 1_000

const notes = new Map<string, string>()

/**
 * Keeps what the model reads beside the result of a call, or in place of an empty one; `undefined`: nothing any more, for
 * some callers use the id of a call again.
 */
export function noteForModel(toolCallId: string, note: string | undefined): void {
  notes.delete(toolCallId)
  if (note === undefined) return
  notes.set(toolCallId, note)
  const oldest = notes.keys().next().value
  if (notes.size > maxRemembered && oldest !== undefined) notes.delete(oldest)
}

/** The note about a result, by what the AI SDK hands to `toModelOutput`; AI SDK 5 does not name the call. */
export function noteOf(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('toolCallId' in given)) return undefined
  return typeof given.toolCallId === 'string' ? notes.get(given.toolCallId) : undefined
}
