/** A call whose client left before the answer. */
export interface UnansweredCall {
  readonly callId: string
  readonly attempt: number
}

interface Kept extends UnansweredCall {
  readonly untilMs: number
}

const mostKept = 10_000

/**
 * The calls of this process whose answers were never delivered, for as long as the repeat window lasts: an equal call
 * within it is the same call again.
 */
export class UnansweredCalls {
  readonly #windowMs: number
  readonly #calls = new Map<string, Kept>()

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** False without a window. */
  get keeps(): boolean {
    return this.#windowMs > 0
  }

  add(signature: string, call: UnansweredCall): void {
    this.#calls.delete(signature)
    this.#calls.set(signature, { ...call, untilMs: performance.now() + this.#windowMs })
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > mostKept && oldest !== undefined) this.#calls.delete(oldest)
  }

  /** The call that an equal one repeats. It is forgotten: the answer of the repetition may be delivered. */
  take(signature: string): UnansweredCall | undefined {
    const call = this.#calls.get(signature)
    this.#calls.delete(signature)
    return call !== undefined && performance.now() < call.untilMs ? call : undefined
  }
}
