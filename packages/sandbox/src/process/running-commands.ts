/** The commands of one sandbox that are under way, and what ends them when it is closed. */
export class RunningCommands {
  /** The sandbox was closed: no further command starts. */
  isClosed = false
  readonly #running = new Map<AbortController, Promise<unknown>>()

  /** Follows a command until it has ended; the signal is aborted when the sandbox is closed. */
  async follow<Result>(run: (closing: AbortSignal) => Promise<Result>): Promise<Result> {
    const closing = new AbortController()
    const running = run(closing.signal)
    this.#running.set(closing, running)
    try {
      return await running
    } finally {
      this.#running.delete(closing)
    }
  }

  get isRunning(): boolean {
    return this.#running.size > 0
  }

  /** Lets no further command start, kills those that run, and waits until what they changed has been judged. */
  async end(): Promise<void> {
    this.isClosed = true
    for (const closing of this.#running.keys()) closing.abort()
    await Promise.allSettled(this.#running.values())
  }
}
