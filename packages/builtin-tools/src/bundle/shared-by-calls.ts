interface Entry<Value> {
  readonly value: Value
  users: number
  isEvicted: boolean
}

/**
 * Values that calls share, each opened once for its key. When there are more than `most`, the one not used for longest is
 * closed: with its last call, or at once when no call uses it.
 */
export class SharedByCalls<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #most: number
  readonly #close: (value: Value) => void

  constructor(most: number, close: (value: Value) => void) {
    this.#most = most
    this.#close = close
  }

  /** Lets a call work with the value of a key, which `open` makes when there is none. */
  async use<Result>(
    key: string,
    open: () => Value,
    work: (value: Value) => Result | Promise<Result>,
  ): Promise<Result> {
    const entry = this.#entries.get(key) ?? { value: open(), users: 0, isEvicted: false }
    // To the end of the order of use.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.users += 1
    if (this.#entries.size > this.#most) this.#evict()
    try {
      return await work(entry.value)
    } finally {
      entry.users -= 1
      this.#closeUnused(entry)
    }
  }

  /** Opens the key's value anew for the next call. */
  forget(key: string, value: Value): void {
    const entry = this.#entries.get(key)
    if (entry?.value === value) this.#remove(key, entry)
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#most) return
      this.#remove(key, entry)
    }
  }

  #remove(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key)
    entry.isEvicted = true
    this.#closeUnused(entry)
  }

  #closeUnused(entry: Entry<Value>): void {
    if (entry.isEvicted && entry.users === 0) this.#close(entry.value)
  }
}
