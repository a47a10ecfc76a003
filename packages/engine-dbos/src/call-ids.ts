/**
 * Tells the calls of a workflow apart whose ids the provider of the model has given twice. Calls come in the same order
 * after each recovery, so the n-th call with an id is the same call each time.
 */
export class CallIds {
  readonly #seen = new Map<string, number>()

  /** The id itself at first, then with a number. */
  next(toolCallId: string): string {
    const count = (this.#seen.get(toolCallId) ?? 0) + 1
    this.#seen.set(toolCallId, count)
    return count === 1 ? toolCallId : `${toolCallId}#${count}`
  }
}
