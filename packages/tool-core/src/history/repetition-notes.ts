/** The notes on repeated calls of one attempt, for the results that the model reads. */
export class RepetitionNotes {
  readonly #byId = new Map<string, KeptNote>()
  #byObject = new WeakMap<object, string>()
  /** Outputs that are text have no identity, so AI SDK 5 finds their notes by what they say. */
  readonly #byText = new Map<string, string>()
  #messageCount = -1

  get(toolCallId: string): string | undefined {
    return this.#byId.get(toolCallId)?.note
  }

  set(call: NotedCall, note: string): void {
    this.#byId.set(call.toolCallId, { ...call, note })
  }

  /** Some providers number the calls of every reply alike: an older note is of another call. */
  forget(toolCallId: string, messageCount: number): void {
    this.#byId.delete(toolCallId)
    // The model has read the results of an earlier step.
    if (messageCount !== this.#messageCount) {
      this.#byText.clear()
      this.#byObject = new WeakMap()
    }
    this.#messageCount = messageCount
  }

  /**
   * Attaches a call's note to its output, for AI SDK 5, which hands over the output alone.
   *
   * @param isKnown Whether these notes can be found when the model is shown the output. If not, a plain object or a
   *   list is copied, since a tool may return one and the same to several runs.
   * @returns The output, or its copy.
   */
  attach(call: NotedCall, output: unknown, isKnown: boolean): unknown {
    const note = this.get(call.toolCallId)
    if (note === undefined) return output
    if (typeof output !== 'object' || output === null) {
      this.#byText.set(textKey(call.toolName, output), note)
      return output
    }
    if (isKnown) {
      this.#byObject.set(output, note)
      return output
    }
    const copy = copyOf(output)
    if (copy === undefined) return output
    notesOfCopies.set(copy, note)
    return copy
  }

  /** Attaches the note to the arguments, which AI SDK 6 and 7 hand back with the output. */
  attachToArguments(toolCallId: string, args: unknown): void {
    const kept = this.#byId.get(toolCallId)
    if (kept === undefined || typeof args !== 'object' || args === null) return
    notesOfArguments.set(args, kept)
  }

  ofCall({ toolCallId, toolName }: NotedCall): string | undefined {
    const kept = this.#byId.get(toolCallId)
    return kept?.toolName === toolName ? kept.note : undefined
  }

  ofOutput(toolName: string, output: unknown): string | undefined {
    return typeof output === 'object' && output !== null
      ? this.#byObject.get(output)
      : this.#byText.get(textKey(toolName, output))
  }
}

/** A call, as far as its note is concerned. */
export interface NotedCall {
  readonly toolCallId: string
  readonly toolName: string
}

interface KeptNote extends NotedCall {
  readonly note: string
}

// By identity, not by the id of a call: runs at the same time may have equal ids, and must not read of each other.
const notesOfArguments = new WeakMap<object, KeptNote>()
const notesOfCopies = new WeakMap<object, string>()

export function noteOfArguments(toolCallId: string, args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null) return undefined
  const kept = notesOfArguments.get(args)
  return kept?.toolCallId === toolCallId ? kept.note : undefined
}

export function noteOfCopy(output: unknown): string | undefined {
  return typeof output === 'object' && output !== null ? notesOfCopies.get(output) : undefined
}

function textKey(toolName: string, output: unknown): string {
  return `${toolName}\n${typeof output}\n${String(output)}`
}

/** A copy that cannot be told from the output; undefined where there is none, as for an instance of a class. */
function copyOf(output: object): object | undefined {
  try {
    if (Array.isArray(output)) return output.slice()
    const prototype: unknown = Object.getPrototypeOf(output)
    if (prototype !== Object.prototype && prototype !== null) return undefined
    return Object.create(prototype, Object.getOwnPropertyDescriptors(output)) as object
  } catch {
    return undefined
  }
}
