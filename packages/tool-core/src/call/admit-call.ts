import { settled, type Steps } from '../async/maybe-promise.ts'
import type { OnRetry } from '../contract/tool-definition.ts'
import { type CallSummary, summarizeRow } from '../history/call-summary.ts'
import type { CallIdentity } from '../history/call-identity.ts'
import { decideReplay, onRetryOf, type ReplayDecision } from '../history/replay-decision.ts'
import {
  fencedError,
  inProgressError,
  isSuperseded,
  lateStartError,
} from '../journal/call-errors.ts'
import { waitForHolder } from '../journal/wait-for-holder.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ToolCallClaim, ToolCallRow } from '../log/tool-call-row.ts'
import { createCallContext } from './call-context.ts'
import { awaited, type BegunCall, type CallScope, stoppedError, waitError } from './call-scope.ts'
import { recordContents } from './record-contents.ts'
import { makeRoom } from './make-room.ts'
import {
  answerFromRecord,
  noteRepetition,
  noteUnreusable,
  refuseRepetition,
  verifyPrior,
} from './replay-call.ts'
import { answerFromCache, releaseReservation, visitGates } from './visit-gates.ts'

/** A valid call, and what is known of earlier ones. */
export interface LocatedCall {
  readonly args: unknown
  readonly identity: CallIdentity
  /** The earlier calls of the same intent and occurrence, oldest first. */
  readonly prior: readonly CallSummary[]
  /** An earlier call that this one may be a rewording of. */
  readonly reworded: CallSummary | undefined
  /** The call has been made before under its id: see `CallOccurrence`. */
  readonly continued: boolean
}

/** The path of a valid call to its start row: the decision on earlier calls, the gates, the claim. */
export class CallAdmission {
  readonly #call: CallScope
  readonly #identity: CallIdentity
  readonly #onRetry: OnRetry
  readonly #continued: boolean
  #args: unknown
  #prior: readonly CallSummary[]
  #reworded: CallSummary | undefined
  /** The very same call has been made elsewhere meanwhile. */
  #raced = false
  /** A success is to be repeated, because its output was not recorded whole. */
  #repeats = false

  constructor(call: CallScope, { args, identity, prior, reworded, continued }: LocatedCall) {
    this.#call = call
    this.#identity = identity
    this.#onRetry = onRetryOf(call.definition, call.journal.policy.safety)
    this.#continued = continued
    this.#args = args
    this.#prior = prior
    this.#reworded = reworded
    call.record.trace?.follows(prior.at(-1))
  }

  /** Decides on what is known of earlier calls, and does it; again when more becomes known. */
  *admit(): Steps<BegunCall> {
    const call = this.#call
    for (;;) {
      const decision = this.#decide()
      if (decision.kind === 'block') return yield* refuseRepetition(call, decision.prior)
      if (decision.kind === 'reuse') {
        const answer = yield* answerFromRecord(call, decision.prior)
        if (answer !== undefined) return answer
        // What a retry may repeat with its key, a call that is the same one may not.
        if (this.#isSameCall) return yield* refuseRepetition(call, decision.prior)
        this.#repeatUnreusable(decision.prior)
      }
      if (decision.kind === 'run' && decision.repeats !== undefined && this.#onRetry !== 'rerun') {
        noteRepetition(call, decision.repeats)
      }
      const gates = call.definition.gates
      const begun =
        gates === undefined
          ? yield* this.#start(decision)
          : yield* this.#startThroughGates(gates, decision)
      if (begun !== undefined) return begun
    }
  }

  #decide(): ReplayDecision {
    const { definition, journal } = this.#call
    return decideReplay({
      onRetry: this.#onRetry,
      canVerify: definition.verify !== undefined,
      prior: this.#prior,
      reworded: this.#reworded,
      continued: this.#isSameCall,
      allowed: journal.allowed.has(this.#key),
    })
  }

  /** The call is not repeated but made elsewhere too: before in this conversation, or by a worker beside this one. */
  get #isSameCall(): boolean {
    if (this.#continued || this.#raced) return true
    const { finish, journal } = this.#call
    if (!finish.unsafe || journal.beside === undefined) return false
    return this.#prior.some((call) => call.status === 'success' && journal.beside?.includes(call))
  }

  #repeatUnreusable(prior: CallSummary): void {
    this.#call.definition.warn(
      `Tool "${prior.toolName}" runs again with the key ${this.#key}: the output of the earlier call was not recorded whole, so it cannot be returned.`,
    )
    noteUnreusable(this.#call, prior)
    this.#repeats = true
  }

  /** Starts the call once its gates let it through; what they reserved is released when it does not run. */
  *#startThroughGates(
    gates: NonNullable<CallScope['definition']['gates']>,
    decision: ReplayDecision,
  ): Steps<BegunCall | undefined> {
    const call = this.#call
    const admitted = yield* visitGates(call, gates, {
      args: this.#args,
      callKey: this.#callKey,
      context: () => this.#running().context,
    })
    if (admitted.args !== this.#args) {
      this.#args = admitted.args
      call.record.describeInput(admitted.args)
    }
    if (admitted.kind === 'answer') return yield* answerFromCache(call, admitted.result)
    call.reservation = admitted.reservation
    let runs = false
    try {
      // The gates may have waited long, for a person perhaps.
      const stopped = stoppedError(call)
      if (stopped !== undefined) return yield* call.finish.refuse(stopped)
      const begun = yield* this.#start(decision)
      runs = begun?.kind === 'run'
      return begun
    } finally {
      if (!runs) releaseReservation(call)
    }
  }

  /** Stores the start row; undefined when another call had the key or the approval, so its outcome counts first. */
  *#start(decision: ReplayDecision): Steps<BegunCall | undefined> {
    const call = this.#call
    const { task, journal, record, finish, abort } = call
    yield* settled(recordContents(call, this.#args, () => this.#running().context))
    const holder = yield* this.#storeStart()
    if (holder !== undefined) {
      const moved = makeRoom(call, this.#identity, holder)
      if (moved === undefined) yield* this.#awaitHolder(holder)
      else this.#prior = moved.prior
      return undefined
    }
    if (record.stored && !task.ephemeral) {
      const { callToken, toolName } = record.row
      const onLost = (): void => abort.abort(fencedError(toolName, callToken))
      const isHeld = yield* journal.leases.hold(callToken, record.startSentAt, onLost)
      if (!isHeld) return yield* finish.refuse(lateStartError(toolName, callToken))
    }
    const stopped = stoppedError(call)
    if (stopped !== undefined) return yield* finish.refuse(stopped)
    const running = this.#running()
    if (decision.kind !== 'verify') return running
    return yield* settled(verifyPrior(call, decision.prior, running, this.#onRetry))
  }

  /** Returns the call that holds the key or uses the approval, if there is one. */
  *#storeStart(): Steps<ToolCallRow | undefined> {
    const { record, finish, reservation, journal } = this.#call
    try {
      const started = yield* record.start({
        claim: this.#claim(),
        ...(finish.unsafe && journal.beside && { known: this.#known() }),
        durability: finish.unsafe ? 'fsync' : 'relaxed',
        approvalId: reservation?.approval?.approvalId ?? null,
      })
      return started.ok ? undefined : started.existing
    } catch (error) {
      if (isSuperseded(error)) finish.superseded(error)
      const ended = waitError(this.#call, error)
      if (ended !== error) return yield* finish.refuse(ended)
      finish.withoutLog(error)
      return undefined
    }
  }

  /**
   * The calls that were decided on, as they ended. The log has news when it holds another one of the key. Not asked for
   * calls that are safe to repeat: the outside may have changed since another worker made them.
   */
  #known(): string[] {
    const ended = this.#prior.filter(({ status }) => status !== 'started')
    return ended.map(({ callToken }) => callToken)
  }

  #running(): Extract<BegunCall, { kind: 'run' }> {
    const { task, record, options, abort } = this.#call
    const context = createCallContext(task, record, options, abort)
    return { kind: 'run', args: this.#args, context }
  }

  #claim(): ToolCallClaim | null {
    const { definition, journal } = this.#call
    // Reads never block each other, and calls that share the key of a task are no repetitions of each other.
    if (!definition.metadata.sideEffect || this.#identity.taskScoped) return null
    const once = this.#continued || this.#onRetry === 'reuse' || this.#onRetry === 'block'
    const repeats = this.#repeats || journal.allowed.has(this.#key)
    return once && !repeats ? 'once' : 'inflight'
  }

  /** Waits for the call that holds the key, and adds it to what is decided on. */
  *#awaitHolder(existing: ToolCallRow): Steps<void> {
    const call = this.#call
    const { log } = call.journal
    const { timeoutMs } = call.task
    const { signal } = call.abort
    const since = performance.now()
    let holder: ToolCallRow | undefined
    try {
      holder = yield* awaited(call, waitForHolder(log, existing, { waitMs: timeoutMs, signal }))
    } catch (error) {
      const ended = waitError(call, error)
      if (ended !== error) yield* call.finish.refuse(ended)
      call.finish.withoutLog(error)
    }
    call.record.trace?.event('claim-wait', { waitMs: performance.now() - since })
    if (holder === undefined) {
      yield* call.finish.refuse(inProgressError(existing.toolName, timeoutMs, this.#key))
      return
    }
    // The loser of a race to the very same call gets the winner's output, whatever the tool does on a retry.
    this.#raced ||= holder.status === 'success'
    this.#reworded = undefined
    this.#prior = [...this.#prior, summarizeRow(holder, nowOf(call.task.log))]
  }

  /** Which call of the run this is, in every attempt; the documented key of a task does not tell its calls apart. */
  get #callKey(): string {
    const { inputHash, occurrence, toolName } = this.#call.record.row
    return this.#identity.taskScoped
      ? JSON.stringify([this.#key, toolName, inputHash, occurrence])
      : this.#key
  }

  get #key(): string {
    return this.#call.record.row.idempotencyKey ?? ''
  }
}
