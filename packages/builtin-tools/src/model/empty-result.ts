/** Notes about empty results, of as many calls as can be under way or about to be read. */
const maxRemembered = 1_000

const notes = new Map<string, string>()

/** Keeps what the model reads in place of the empty result of a call. */
export function noteEmptyResult(toolCallId: string, note: string): void {
  notes.delete(toolCallId)
  notes.set(toolCallId, note)
  const oldest = notes.keys().next().value
  if (notes.size > maxRemembered && oldest !== undefined) notes.delete(oldest)
}

/** The note about a result, by what the AI SDK hands to `toModelOutput`; AI SDK 5 does not name the call. */
export function noteOfEmptyResult(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || !('toolCallId' in given)) return undefined
  return typeof given.toolCallId === 'string' ? notes.get(given.toolCallId) : undefined
}
