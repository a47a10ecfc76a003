import type { CallIdentity } from './call-identity.ts'
import { type CallSummary, isLeftOpen, outcomeOf } from './call-summary.ts'

/** The calls that earlier attempts of a task left in the log, found by what they were for. */
export class PriorCalls {
  readonly all: readonly CallSummary[]
  readonly #byKey = new Map<string, CallSummary[]>()
  readonly #byHash = new Map<string, CallSummary[]>()
  /** Of each tool, the occurrences that its calls had. */
  readonly #occurrences = new Map<string, Set<number>>()
  readonly #byFingerprint = new Map<string, PriorIntent>()
  /** Of each tool, the calls that may have taken effect; those that this attempt repeated are dropped from the end. */
  readonly #effects = new Map<string, CallSummary[]>()

  constructor(calls: readonly CallSummary[]) {
    this.all = calls
    for (const call of calls) {
      const { toolName, idempotencyKey, inputHash, occurrence } = call
      if (idempotencyKey !== null) addTo(this.#byKey, `${toolName}\n${idempotencyKey}`, call)
      addTo(this.#byHash, `${toolName}\n${inputHash ?? ''}`, call)
      if (call.effect !== 'none') addTo(this.#effects, toolName, call)
      const occurrences = this.#occurrences.get(toolName)
      if (occurrences === undefined) this.#occurrences.set(toolName, new Set([occurrence]))
      else occurrences.add(occurrence)
    }
  }

  /** The earlier calls of an intent. They are looked up once: the second call of the intent costs no search. */
  of(toolName: string, identity: CallIdentity): PriorIntent {
    let intent = this.#byFingerprint.get(identity.fingerprint)
    if (intent === undefined) {
      intent = new PriorIntent(this.#find(toolName, identity))
      this.#byFingerprint.set(identity.fingerprint, intent)
    }
    return intent
  }

  /** The last call of a tool that may have taken effect and whose key is not among those given, which only grow. */
  lastUnrepeated(toolName: string, repeatedKeys: ReadonlySet<string>): CallSummary | undefined {
    const calls = this.#effects.get(toolName)
    for (let last = calls?.at(-1); last !== undefined; last = calls?.at(-1)) {
      if (last.idempotencyKey === null || !repeatedKeys.has(last.idempotencyKey)) return last
      calls?.pop()
    }
    return undefined
  }

  // A row does not hold its fingerprint; its key tells, since the key is made from it.
  #find(toolName: string, identity: CallIdentity): CallSummary[] {
    if (identity.keyedByInput || identity.taskScoped) {
      const sameInput = this.#byHash.get(`${toolName}\n${identity.inputHash ?? ''}`) ?? []
      return sameInput.filter((call) => call.idempotencyKey === identity.keyAt(call.occurrence))
    }
    const found = [...(this.#occurrences.get(toolName) ?? [])].flatMap((occurrence) =>
      (this.#byKey.get(`${toolName}\n${identity.keyAt(occurrence)}`) ?? []).filter(
        (call) => call.occurrence === occurrence,
      ),
    )
    return found.toSorted((a, b) => a.attempt - b.attempt || a.seq - b.seq)
  }
}

/** The earlier calls of one intent, oldest first. */
export class PriorIntent {
  /** The occurrences of the calls that have not failed. */
  readonly used: ReadonlySet<number>
  readonly #byOccurrence = new Map<number, CallSummary[]>()
  readonly #byId = new Map<string, CallSummary[]>()

  constructor(calls: readonly CallSummary[]) {
    for (const call of calls) {
      addTo(this.#byOccurrence, call.occurrence, call)
      if (call.toolCallId !== null) addTo(this.#byId, call.toolCallId, call)
    }
    const succeeded = calls.filter(({ status }) => status !== 'error')
    this.used = new Set(succeeded.map(({ occurrence }) => occurrence))
  }

  withId(toolCallId: string): readonly CallSummary[] {
    return this.#byId.get(toolCallId) ?? []
  }

  /**
   * The occurrences of the calls with other ids than the one given: of each that succeeded, runs, or was left open by a
   * worker that died. `isBegun` tells which ids the attempt has made a call with, so that it knows more than the log.
   */
  usedBeside(toolCallId: string, isBegun: (id: string) => boolean): ReadonlySet<number> {
    const used = new Set<number>()
    for (const calls of this.#byOccurrence.values()) {
      for (const call of calls) {
        const id = call.toolCallId
        if (id === toolCallId) continue
        const isCurrent = id === null || (!isBegun(id) && this.withId(id).at(-1) === call)
        if (outcomeOf(call) === 'success' || (isCurrent && isLeftOpen(call))) {
          used.add(call.occurrence)
        }
      }
    }
    return used
  }

  at(occurrence: number): readonly CallSummary[] {
    return this.#byOccurrence.get(occurrence) ?? []
  }
}

function addTo<Key>(index: Map<Key, CallSummary[]>, key: Key, call: CallSummary): void {
  const calls = index.get(key)
  if (calls === undefined) index.set(key, [call])
  else calls.push(call)
}
