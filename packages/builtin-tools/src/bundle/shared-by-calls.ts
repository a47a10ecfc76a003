interface Entry<Value> {
  readonly value: Value
  readonly owner: object
  /** Calls that use it now. */
  calls: number
  /** Runs that have used it and have not ended. */
  runs: number
  /** It was used outside a run. */
  isPinned: boolean
  timer: NodeJS.Timeout | undefined
}

/** How values of a kind are closed. */
export interface SharedOptions<Value> {
  /** More than this many at once, and the one not used for longest is closed. */
  readonly most: number
  /** How long a value that no open run has used waits for the next run, in milliseconds. */
  readonly idleMs: number
  readonly close: (value: Value) => Promise<void> | void
}

/** One use of a value. */
export interface SharedUse<Value> {
  readonly key: string
  /** The bundle, with which the value is closed. */
  readonly owner: object
  readonly open: () => Value
  /** Outside runs, nothing says when a use is over: the value stays open until it has to make room. */
  readonly isOutsideRun: boolean
  /** The run whose call it is. */
  readonly run: UserOfShared | undefined
}

/** A run that uses values. */
export interface UserOfShared {
  /** Calls `release` when the run has ended; false when it holds the value already. */
  hold(value: object, release: () => void): boolean
}

/**
 * Values that calls share, each opened once for its key. A value is closed with its owner; when the last call of the last
 * run that has used it is over, after a while for the next run; and when there are too many. A call that uses it is let end
 * first, except where its owner is closed.
 */
export class SharedByCalls<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  /** Had to make room, and are used by a call. */
  readonly #leaving = new Set<Entry<Value>>()
  readonly #options: SharedOptions<Value>

  constructor(options: SharedOptions<Value>) {
    this.#options = options
  }

  /** Lets a call work with the value of a key, which is opened when there is none. */
  async use<Result>(
    { key, owner, open, isOutsideRun, run }: SharedUse<Value>,
    work: (value: Value) => Result | Promise<Result>,
  ): Promise<Result> {
    const entry = this.#entries.get(key) ?? newEntry(open(), owner)
    // To the end of the order of use.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    clearTimeout(entry.timer)
    entry.calls += 1
    entry.isPinned ||= isOutsideRun
    this.#hold(key, entry, run)
    if (this.#entries.size > this.#options.most) this.#evict()
    try {
      return await work(entry.value)
    } finally {
      entry.calls -= 1
      this.#closeUnused(key, entry)
    }
  }

  /** Opens the key's value anew for the next call. */
  forget(key: string, value: Value): void {
    const entry = this.#entries.get(key)
    if (entry?.value === value) this.#remove(key, entry)
  }

  /** Closes what an owner has open, also what its calls use. */
  async closeOf(owner: object): Promise<void> {
    for (const [key, entry] of this.#entries) {
      if (entry.owner === owner) this.#setAside(key, entry)
    }
    const owned = [...this.#leaving].filter((entry) => entry.owner === owner)
    await Promise.all(owned.map((entry) => this.#close(entry)))
  }

  #hold(key: string, entry: Entry<Value>, run: UserOfShared | undefined): void {
    const isNew = run?.hold(entry, () => {
      entry.runs -= 1
      this.#closeUnused(key, entry)
    })
    if (isNew === true) entry.runs += 1
  }

  #closeUnused(key: string, entry: Entry<Value>): void {
    if (entry.calls > 0) return
    if (this.#leaving.has(entry)) {
      void this.#close(entry)
      return
    }
    if (entry.isPinned || entry.runs > 0 || this.#entries.get(key) !== entry) return
    clearTimeout(entry.timer)
    entry.timer = setTimeout(() => this.#remove(key, entry), this.#options.idleMs).unref()
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= this.#options.most) return
      this.#remove(key, entry)
    }
  }

  #remove(key: string, entry: Entry<Value>): void {
    this.#setAside(key, entry)
    this.#closeUnused(key, entry)
  }

  #setAside(key: string, entry: Entry<Value>): void {
    clearTimeout(entry.timer)
    this.#entries.delete(key)
    this.#leaving.add(entry)
  }

  async #close(entry: Entry<Value>): Promise<void> {
    this.#leaving.delete(entry)
    await this.#options.close(entry.value)
  }
}

function newEntry<Value>(value: Value, owner: object): Entry<Value> {
  return {
    value,
    owner,
    calls: 0,
    runs: 0,
    isPinned: false,
    timer: undefined,
  }
}
