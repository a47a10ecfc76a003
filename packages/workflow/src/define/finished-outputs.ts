/** Which of several tasks with one output is meant. */
export interface OutputSelector {
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
  readonly #names = new Map<string, PlacesOfName>()
  #rendering = 0
  #isRendering = false

  /** Adds what a task made; true when the tree has read its place and must be rendered again. */
  add({ name, id, iteration, value }: FinishedOutput): boolean {
    if (name === null) return false
    let read = false
    for (const place of [{}, { id }, { iteration }, { id, iteration }]) {
      const slot = this.#slotAt(name, place)
      slot.value = value
      slot.filled = true
      read ||= slot.readIn === this.#rendering
    }
    return read
  }

  /** The value at a place. Noted as read while the tree is rendered; a task that reads when it runs changes no tree. */
  read(name: string, place: OutputSelector = newest): unknown {
    const slot = this.#slotAt(name, place)
    if (this.#isRendering) slot.readIn = this.#rendering
    return slot.value
  }

  /** Forgets what was read: a new rendering begins. */
  forgetReads(): void {
    this.#rendering += 1
  }

  /** Renders, noting what is read meanwhile. */
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

  // Maps in maps instead of one key: a large tree reads thousands of places in each rendering.
  #slotAt(name: string, { id, iteration }: OutputSelector): Slot {
    const places = made(this.#names, name, newPlaces)
    if (iteration === undefined) {
      return id === undefined ? places.any : made(places.byId, id, newSlot)
    }
    const iterations =
      id === undefined ? places.byIteration : made(places.byBoth, id, () => new Map<number, Slot>())
    return made(iterations, iteration, newSlot)
  }
}

/** A place that may be read before anything is there. */
interface Slot {
  value: unknown
  filled: boolean
  /** The rendering that read it last. */
  readIn: number
}

interface PlacesOfName {
  readonly any: Slot
  readonly byId: Map<string, Slot>
  readonly byIteration: Map<number, Slot>
  readonly byBoth: Map<string, Map<number, Slot>>
}

const newest: OutputSelector = {}

function newSlot(): Slot {
  return { value: undefined, filled: false, readIn: -1 }
}

function newPlaces(): PlacesOfName {
  return { any: newSlot(), byId: new Map(), byIteration: new Map(), byBoth: new Map() }
}

function made<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
