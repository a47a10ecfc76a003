import type { ConversationMessage } from '../contract/task-context.ts'
import type { Lineage } from '../contract/journal-options.ts'
import type { CallIdentity } from './call-identity.ts'
import { type CallSummary, outcomeOf } from './call-summary.ts'
import { awaitsResult, callIdsBefore } from './conversation.ts'
import { PriorCalls, type PriorIntent } from './prior-calls.ts'
import { RepetitionNotes } from './repetition-notes.ts'

/** Which call of the task a new call is. */
export interface CallOccurrence {
  readonly occurrence: number
  /** The call has been made before under its id: the conversation holds it without a result, or an engine asks for it again. */
  readonly continued: boolean
  /** The earlier calls of the same intent and occurrence, oldest first. */
  readonly prior: readonly CallSummary[]
}

/** The calls of one task: those that earlier attempts left in the log, and those begun here. */
export class CallHistory {
  readonly #lineage: Lineage
  #prior = new PriorCalls([])
  readonly #begun = new Map<string, EqualCalls>()
  readonly #begunIds = new Set<string>()
  readonly #begunKeys = new Set<string>()
  /** Ids that the conversation held before any call here had them: it continues an earlier attempt. */
  readonly #inheritedIds = new Set<string>()
  /** What the agent must read in the result of a call. */
  readonly notes: RepetitionNotes = new RepetitionNotes()
  /** The agent has been warned of the effects of earlier attempts. */
  warned = false

  constructor(lineage: Lineage) {
    this.#lineage = lineage
  }

  /** The calls that were in the log before this attempt's journal was opened, oldest first. */
  get earlier(): readonly CallSummary[] {
    return this.#prior.all
  }

  addEarlier(calls: readonly CallSummary[]): void {
    this.#prior = new PriorCalls(calls)
  }

  addBegun(fingerprint: string, call: CallSummary): void {
    const equal = this.#begun.get(fingerprint)
    if (equal === undefined) this.#begun.set(fingerprint, new EqualCalls(call))
    else equal.add(call)
    // Only a retry compares with earlier attempts.
    if (this.#prior.all.length === 0) return
    if (call.toolCallId !== null) this.#begunIds.add(call.toolCallId)
    if (call.idempotencyKey !== null) this.#begunKeys.add(call.idempotencyKey)
  }

  /** A call that failed has not used up its occurrence: repeating it repeats its key, so nothing is done twice. */
  markFailed(fingerprint: string, call: CallSummary): void {
    this.#begun.get(fingerprint)?.free(call.occurrence)
  }

  /**
   * Finds which of several equal calls a new call is. Equal calls are interchangeable, so counting
   * only them is blind to the order of others: a retry from scratch begins at 0 again, a continued conversation
   * counts the calls that it holds.
   */
  locate(
    toolName: string,
    identity: CallIdentity,
    toolCallId: string,
    messages: readonly ConversationMessage[],
  ): CallOccurrence {
    const begun = this.#begun.get(identity.fingerprint)
    if (this.#lineage === 'journaled') {
      return locateById(this.#prior.of(toolName, identity), begun, toolCallId)
    }
    const continued = awaitsResult(messages, toolCallId)
    if (this.#prior.all.length === 0) {
      const itself = continued ? begun?.withId(toolCallId) : undefined
      const occurrence = itself?.occurrence ?? begun?.firstFree() ?? 0
      return { occurrence, continued, prior: begun?.at(occurrence) ?? [] }
    }

    const intent = this.#prior.of(toolName, identity)
    const taken = this.#takenBy(intent, toolCallId, messages)
    const itself = continued
      ? (begun?.withId(toolCallId) ?? intent.withId(toolCallId).at(-1))
      : undefined
    const occurrence = itself?.occurrence ?? begun?.firstFree(taken) ?? firstNotIn(taken)
    return {
      occurrence,
      continued,
      prior: [...intent.at(occurrence), ...(begun?.at(occurrence) ?? [])],
    }
  }

  /**
   * The earlier call of the same tool that a new one may be a rewording of: an earlier attempt
   * made it, this attempt, started over, has not repeated it, and it may have taken effect.
   */
  rewordedFrom(toolName: string): CallSummary | undefined {
    if (this.#inheritedIds.size > 0) return undefined
    if (this.#lineage === 'continued' || this.#lineage === 'journaled') return undefined
    return this.#prior.lastUnrepeated(toolName, this.#begunKeys)
  }

  /** The occurrences that earlier attempts have used up, because this attempt continues their conversation. */
  #takenBy(
    intent: PriorIntent,
    toolCallId: string,
    messages: readonly ConversationMessage[],
  ): ReadonlySet<number> {
    if (this.#lineage === 'fresh') return none
    if (this.#lineage === 'continued') return intent.used
    const inConversation = callIdsBefore(messages, toolCallId)
    for (const id of inConversation) {
      if (!this.#begunIds.has(id)) this.#inheritedIds.add(id)
    }
    const taken = new Set<number>()
    for (const id of inConversation) {
      if (!this.#inheritedIds.has(id)) continue
      for (const call of intent.withId(id)) {
        if (call.status !== 'error') taken.add(call.occurrence)
      }
    }
    return taken
  }
}

const none: ReadonlySet<number> = new Set()

/** Finds a call by its id, which is the call: an engine that replays the model's answers never gives it to another. */
function locateById(
  intent: PriorIntent,
  begun: EqualCalls | undefined,
  toolCallId: string,
): CallOccurrence {
  const taken = intent.usedBeside(toolCallId, (id) => begun?.withId(id) !== undefined)
  const itself = begun?.withId(toolCallId) ?? intent.withId(toolCallId).at(-1)
  // A call that failed without an effect has freed its occurrence, which another may have used since.
  const isLost = itself && outcomeOf(itself) === 'failed' && isUsed(itself.occurrence)
  const occurrence =
    itself === undefined || isLost === true
      ? (begun?.firstFree(taken) ?? firstNotIn(taken))
      : itself.occurrence
  return {
    occurrence,
    continued: itself !== undefined,
    prior: [...intent.at(occurrence), ...(begun?.at(occurrence) ?? [])],
  }

  function isUsed(n: number): boolean {
    return taken.has(n) || begun?.isTaken(n) === true
  }
}

/** The calls of one intent that were begun here, by occurrence. Most intents have one call, which costs no table. */
class EqualCalls {
  readonly #first: CallSummary
  #others: Map<number, CallSummary[]> | undefined
  /** The last call of each id, without the first call. */
  #laterById: Map<string, CallSummary> | undefined
  /** Every occurrence below is taken. */
  #lowestFree = 0

  constructor(first: CallSummary) {
    this.#first = first
  }

  add(call: CallSummary): void {
    this.#others ??= new Map()
    const { toolCallId } = call
    this.#laterById ??= new Map()
    if (toolCallId !== null) this.#laterById.set(toolCallId, call)
    const calls = this.#others.get(call.occurrence)
    if (calls === undefined) this.#others.set(call.occurrence, [call])
    else calls.push(call)
  }

  free(occurrence: number): void {
    this.#lowestFree = Math.min(this.#lowestFree, occurrence)
  }

  at(occurrence: number): readonly CallSummary[] {
    const others = this.#others?.get(occurrence) ?? []
    return this.#first.occurrence === occurrence ? [this.#first, ...others] : others
  }

  withId(toolCallId: string): CallSummary | undefined {
    const later = this.#laterById?.get(toolCallId)
    return later ?? (this.#first.toolCallId === toolCallId ? this.#first : undefined)
  }

  firstFree(alsoTaken?: ReadonlySet<number>): number {
    while (this.isTaken(this.#lowestFree)) this.#lowestFree += 1
    let occurrence = this.#lowestFree
    while (alsoTaken?.has(occurrence) === true || this.isTaken(occurrence)) occurrence += 1
    return occurrence
  }

  isTaken(occurrence: number): boolean {
    return this.at(occurrence).some((call) => call.status !== 'error')
  }
}

function firstNotIn(taken: ReadonlySet<number>): number {
  let occurrence = 0
  while (taken.has(occurrence)) occurrence += 1
  return occurrence
}
