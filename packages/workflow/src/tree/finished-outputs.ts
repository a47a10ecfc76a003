/** Which of several tasks with one output is meant. */
export interface OutputPlace {
  /** The task. @default whichever finished last */
  readonly id?: string
  /** The loop's iteration. @default the newest that has finished */
  readonly iteration?: number
}

/** What a finished task made. */
export interface FinishedOutput {
  /** The task's id as the tree has it. */
  readonly id: string
  readonly iteration: number
  /** Null for a task without `output`. */
  readonly name: string | null
  readonly value: unknown
}

/** The outputs of the finished tasks of a run, and which of them the tree has read since it was last rendered. */
export class FinishedOutputs {
  readonly #newest = new Map<string, FinishedOutput>()
  readonly #placed = new Map<string, FinishedOutput>()
  readonly #reads = new Set<string>()

  /** Adds what a task made; true when the tree has read its place and must be rendered again. */
  add(output: FinishedOutput): boolean {
    const { name, id, iteration } = output
    if (name === null) return false
    const keys = [name, keyOf(name, id), keyOf(name, id, iteration), keyOf(name, '', iteration)]
    this.#newest.set(name, output)
    for (const key of keys.slice(1)) this.#placed.set(key, output)
    return keys.some((key) => this.#reads.has(key))
  }

  /** The value at a place, noted as read. */
  read(name: string, place: OutputPlace = {}): unknown {
    const { id, iteration } = place
    if (id === undefined && iteration === undefined) {
      this.#reads.add(name)
      return this.#newest.get(name)?.value
    }
    const key = keyOf(name, id ?? '', iteration)
    this.#reads.add(key)
    return this.#placed.get(key)?.value
  }

  /** Forgets what was read: a new rendering begins. */
  forgetReads(): void {
    this.#reads.clear()
  }

  /** The newest value of each output. */
  newest(): Record<string, unknown> {
    return Object.fromEntries([...this.#newest].map(([name, { value }]) => [name, value]))
  }
}

function keyOf(name: string, id: string, iteration?: number): string {
  return JSON.stringify([name, id, iteration ?? null])
}
