import type { EffectScope, ToolCallRow } from '../log/tool-call-row.ts'
import { isOrphan } from '../log/orphan.ts'
import type { CallEffect } from '../errors/smithers-error.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import type { CallIdentity } from './call-identity.ts'
import { awaitsResult, callIdsBefore } from './conversation.ts'

/** What is remembered of a call; its output stays in the log. */
export interface CallSummary {
  readonly callToken: string
  readonly toolName: string
  readonly toolCallId: string | null
  readonly idempotencyKey: string | null
  readonly inputHash: string | null
  readonly occurrence: number
  readonly attempt: number
  readonly seq: number
  readonly startedAtMs: number
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly effectScope: EffectScope
  readonly inputJson: string | null
  status: ToolCallRow['status']
  effect: CallEffect | null
  errorJson: string | null
}

/** How an earlier call ended: `'unknown'` when it may have taken effect. */
export type PriorOutcome = 'success' | 'failed' | 'unknown' | 'running'

/** Which call of the task a new call is. */
export interface CallOccurrence {
  readonly occurrence: number
  /** The conversation already holds this very call, without a result. */
  readonly continued: boolean
  /** The earlier calls of the same intent and occurrence, oldest first. */
  readonly prior: readonly CallSummary[]
}

/** The outcome of an earlier call, as far as the log knows. */
export function outcomeOf(call: CallSummary): PriorOutcome {
  if (call.status === 'success') return 'success'
  if (call.status === 'started') return 'running'
  return call.effect === 'none' ? 'failed' : 'unknown'
}

/**
 * A call with the time at which its key was first used: services forget keys after some time, so that one counts. What
 * failed without an effect has not used it.
 */
export function sinceFirst(call: CallSummary, others: readonly CallSummary[]): CallSummary {
  const times = others
    .filter(
      (other) => other.idempotencyKey === call.idempotencyKey && outcomeOf(other) !== 'failed',
    )
    .map((other) => other.startedAtMs)
  return { ...call, startedAtMs: Math.min(call.startedAtMs, ...times) }
}

/** The calls of one task: those that earlier attempts left in the log, and those begun here. */
export class CallHistory {
  readonly #lineage: 'auto' | 'fresh' | 'continued'
  #earlier: readonly CallSummary[] = []
  readonly #begun = new Map<string, EqualCalls>()
  readonly #begunIds = new Set<string>()
  readonly #begunKeys = new Set<string>()
  /** Ids that the conversation held before any call here had them: it continues an earlier attempt. */
  readonly #inheritedIds = new Set<string>()
  /** What the agent must read in the result of a call, by the id of the call. */
  readonly notes: Map<string, string> = new Map()
  /** The agent has been warned of the effects of earlier attempts. */
  warned = false

  constructor(lineage: 'auto' | 'fresh' | 'continued') {
    this.#lineage = lineage
  }

  /** The calls that were in the log before this attempt's journal was opened, oldest first. */
  get earlier(): readonly CallSummary[] {
    return this.#earlier
  }

  addEarlier(calls: readonly CallSummary[]): void {
    this.#earlier = calls
  }

  addBegun(fingerprint: string, call: CallSummary): void {
    const equal = this.#begun.get(fingerprint)
    if (equal === undefined) this.#begun.set(fingerprint, new EqualCalls(call))
    else equal.add(call)
    // Only a retry compares with earlier attempts.
    if (this.#earlier.length === 0) return
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
    const continued = awaitsResult(messages, toolCallId)
    if (this.#earlier.length === 0) {
      const itself = continued ? begun?.withId(toolCallId) : undefined
      const occurrence = itself?.occurrence ?? begun?.firstFree() ?? 0
      return { occurrence, continued, prior: begun?.at(occurrence) ?? [] }
    }

    const inherited = this.#inherited(toolCallId, messages)
    const same = this.#earlier.filter(
      (call) => call.toolName === toolName && isSameIntent(call, identity),
    )
    const itself = continued
      ? (begun?.withId(toolCallId) ?? same.findLast((call) => call.toolCallId === toolCallId))
      : undefined
    const taken = new Set(
      same
        .filter((call) => call.status !== 'error' && inherited(call))
        .map((call) => call.occurrence),
    )
    const occurrence = itself?.occurrence ?? begun?.firstFree(taken) ?? firstNotIn(taken)
    return {
      occurrence,
      continued,
      prior: [
        ...same.filter((call) => call.occurrence === occurrence),
        ...(begun?.at(occurrence) ?? []),
      ],
    }
  }

  /**
   * The earlier call of the same tool that a new one may be a rewording of: an earlier attempt
   * made it, this attempt, started over, has not repeated it, and it may have taken effect.
   */
  rewordedFrom(toolName: string): CallSummary | undefined {
    if (this.#inheritedIds.size > 0 || this.#lineage === 'continued') return undefined
    return this.#earlier.findLast(
      (call) =>
        call.toolName === toolName &&
        call.effect !== 'none' &&
        (call.idempotencyKey === null || !this.#begunKeys.has(call.idempotencyKey)),
    )
  }

  #inherited(
    toolCallId: string,
    messages: readonly ConversationMessage[],
  ): (call: CallSummary) => boolean {
    if (this.#lineage === 'fresh') return () => false
    if (this.#lineage === 'continued') return () => true
    const held = callIdsBefore(messages, toolCallId)
    for (const id of held) {
      if (!this.#begunIds.has(id)) this.#inheritedIds.add(id)
    }
    return ({ toolCallId: id }) => id !== null && held.has(id) && this.#inheritedIds.has(id)
  }
}

/** The calls of one intent that were begun here, by occurrence. Most intents have one call, which costs no table. */
class EqualCalls {
  readonly #first: CallSummary
  #others: Map<number, CallSummary[]> | undefined
  /** Every occurrence below is taken. */
  #lowestFree = 0

  constructor(first: CallSummary) {
    this.#first = first
  }

  add(call: CallSummary): void {
    this.#others ??= new Map()
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
    const calls = [this.#first, ...(this.#others?.values() ?? [])].flat()
    return calls.findLast((call) => call.toolCallId === toolCallId)
  }

  firstFree(alsoTaken?: ReadonlySet<number>): number {
    while (this.#isTaken(this.#lowestFree)) this.#lowestFree += 1
    let occurrence = this.#lowestFree
    while (alsoTaken?.has(occurrence) === true || this.#isTaken(occurrence)) occurrence += 1
    return occurrence
  }

  #isTaken(occurrence: number): boolean {
    return this.at(occurrence).some((call) => call.status !== 'error')
  }
}

function firstNotIn(taken: ReadonlySet<number>): number {
  let occurrence = 0
  while (taken.has(occurrence)) occurrence += 1
  return occurrence
}

/** What is remembered of a row. A repeated read needs no warning, so its arguments are not kept. */
export function summarizeRow(row: ToolCallRow, nowMs: number): CallSummary {
  const orphan = isOrphan(row, nowMs)
  return {
    callToken: row.callToken,
    toolName: row.toolName,
    toolCallId: row.toolCallId,
    idempotencyKey: row.idempotencyKey,
    inputHash: row.inputHash,
    occurrence: row.occurrence,
    attempt: row.attempt,
    seq: row.seq,
    startedAtMs: row.startedAtMs,
    sideEffect: row.sideEffect,
    idempotent: row.idempotent,
    // An unrecorded scope may be anywhere, so a warning lists the call in full.
    effectScope: row.effectScope ?? 'external',
    inputJson: row.sideEffect ? row.inputJson : null,
    // An orphan is never finished, so it is what recovery would make of it.
    status: orphan ? 'error' : row.status,
    effect: orphan ? 'unknown' : row.effect,
    errorJson: row.errorJson,
  }
}

// A row does not hold its fingerprint; its key tells, since the key is made from it.
function isSameIntent(call: CallSummary, identity: CallIdentity): boolean {
  if (identity.taskScoped && call.inputHash !== identity.inputHash) return false
  return call.idempotencyKey === identity.keyAt(call.occurrence)
}
