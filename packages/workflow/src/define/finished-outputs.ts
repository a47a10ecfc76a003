/** Selects one of several tasks that share an output. */
export interface OutputSelector {
  /** The task's id. @default the task that finished last */
  readonly id?: string
  /** The loop's iteration. @default the latest to finish */
  readonly iteration?: number
}

/** The output of a finished task. */
export interface FinishedOutput {
  /** The task's id in the tree. */
  readonly id: string
  readonly iteration: number
  /** Null for a task without `output`. */
  readonly name: string | null
  readonly value: unknown
}

/** The outputs of a run's finished tasks, and which of them the last render read. */
export class FinishedOutputs {
  readonly #names = new Map<string, SlotsOfName>()
  #rendering = 0
  #isRendering = false

  /** Adds an output; true when the last render read its slot, so the tree must be rendered again. */
  add({ name, id, iteration, value }: FinishedOutput): boolean {
    if (name === null) return false
    let read = false
    for (const selector of [{}, { id }, { iteration }, { id, iteration }]) {
      const slot = this.#slotAt(name, selector)
      slot.value = value
      slot.filled = true
      read ||= slot.readIn === this.#rendering
    }
    return read
  }

  /** The selected value. Noted as read during a render only: a task that reads while it runs changes no tree. */
  read(name: string, selector: OutputSelector = newest): unknown {
    const slot = this.#slotAt(name, selector)
    if (this.#isRendering) slot.readIn = this.#rendering
    return slot.value
  }

  /** Forgets what was read, for a new render. */
  forgetReads(): void {
    this.#rendering += 1
  }

  /** Renders, noting what is read. */
  notingReads<Tree>(render: () => Tree): Tree {
    this.#isRendering = true
    try {
      return render()
    } finally {
      this.#isRendering = false
    }
  }

  /** The newest value of each output. */
  newest(): Record<string, unknown> {
    return Object.fromEntries(
      [...this.#names].flatMap(([name, { any }]) => (any.filled ? [[name, any.value]] : [])),
    )
  }

  // Nested maps instead of one composed key: a large tree reads thousands of slots per render.
  #slotAt(name: string, { id, iteration }: OutputSelector): Slot {
    const slots = getOrCreate(this.#names, name, newSlots)
    if (iteration === undefined) {
      return id === undefined ? slots.any : getOrCreate(slots.byId, id, newSlot)
    }
    const iterations =
      id === undefined
        ? slots.byIteration
        : getOrCreate(slots.byBoth, id, () => new Map<number, Slot>())
    return getOrCreate(iterations, iteration, newSlot)
  }
}

/** A value that may be read before it exists. */
interface Slot {
  value: unknown
  filled: boolean
  /** The last render that read it. */
  readIn: number
}

interface SlotsOfName {
  readonly any: Slot
  readonly byId: Map<string, Slot>
  readonly byIteration: Map<number, Slot>
  readonly byBoth: Map<string, Map<number, Slot>>
}

const newest: OutputSelector = {}

function newSlot(): Slot {
  return { value: undefined, filled: false, readIn: -1 }
}

function newSlots(): SlotsOfName {
  return { any: newSlot(), byId: new Map(), byIteration: new Map(), byBoth: new Map() }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}
