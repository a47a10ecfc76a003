import type { GateReservation } from '../gates/gate-reservation.ts'
import { passGates } from '../gates/pass-gates.ts'
import type { CachedResult } from '../gates/result-cache.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallClaim, ToolCallRow } from '../log/tool-call-row.ts'
import { isSmithersError } from '../errors/smithers-error.ts'
import { createCallContext } from './call-context.ts'
import { fencedError, inProgressError } from '../journal/call-errors.ts'
import type { CallIdentity } from '../history/call-identity.ts'
import { type BegunCall, type CallScope, stoppedError } from './call-scope.ts'
import {
  answerFromRecord,
  noteRepetition,
  noteUnreusable,
  refuseRepetition,
  verifyEarlier,
} from './replay-call.ts'
import { type CallSummary, summarizeRow } from '../history/call-history.ts'
import { chain, rescue } from '../async/maybe-promise.ts'
import { decideReplay, onRetryOf } from '../history/replay-decision.ts'
import type { OnRetry } from '../contract/tool-definition.ts'
import { waitForHolder } from '../journal/wait-for-holder.ts'

/** A valid call, and what is known of earlier ones. */
export interface LocatedCall {
  readonly args: unknown
  readonly identity: CallIdentity
  /** The earlier calls of the same intent and occurrence, oldest first. */
  readonly prior: readonly CallSummary[]
  /** An earlier call that this one may be a rewording of. */
  readonly drifted: CallSummary | undefined
  /** The conversation holds this very call. */
  readonly continued: boolean
}

/** The way of a valid call to its start row: the decision on earlier calls, the gates, the claim. */
export class CallAdmission {
  readonly #call: CallScope
  readonly #identity: CallIdentity
  readonly #onRetry: OnRetry
  readonly #continued: boolean
  #args: unknown
  #prior: readonly CallSummary[]
  #drifted: CallSummary | undefined
  #raced = false
  /** What the tool's gates have set aside for the call. */
  #pass: GateReservation | undefined
  /** A success is to be repeated, because its output was not recorded whole. */
  #repeats = false

  constructor(call: CallScope, { args, identity, prior, drifted, continued }: LocatedCall) {
    this.#call = call
    this.#identity = identity
    this.#onRetry = onRetryOf(call.definition, call.journal.policy.safety)
    this.#continued = continued
    this.#args = args
    this.#prior = prior
    this.#drifted = drifted
  }

  /** To be told how the call ended; undefined for a call that passed no gates. */
  get pass(): GateReservation | undefined {
    return this.#pass
  }

  /** Decides on what is known of earlier calls, and does it. */
  proceed(): MaybePromise<BegunCall> {
    const { definition, journal } = this.#call
    const decision = decideReplay({
      onRetry: this.#onRetry,
      canVerify: definition.verify !== undefined,
      prior: this.#prior,
      reworded: this.#drifted,
      continued: this.#continued || this.#raced,
      allowed: journal.allowed.has(this.#key),
    })
    switch (decision.kind) {
      case 'reuse':
        return this.#reuse(decision.prior)
      case 'block':
        return refuseRepetition(this.#call, decision.prior)
      case 'verify': {
        const verify = (): Promise<BegunCall> =>
          verifyEarlier(this.#call, decision.prior, this.#running(), this.#onRetry)
        return this.#admitted(() => this.#start(verify))
      }
      default:
        if (decision.repeats !== undefined && this.#onRetry !== 'rerun') {
          noteRepetition(this.#call, decision.repeats)
        }
        return this.#runAdmitted()
    }
  }

  #runAdmitted(): MaybePromise<BegunCall> {
    return this.#admitted(() => this.#start(() => this.#running()))
  }

  #running(): Extract<BegunCall, { kind: 'run' }> {
    const { task, record, options, abort } = this.#call
    const context = createCallContext(task, record.row, options, abort)
    return { kind: 'run', args: this.#args, context }
  }

  /** Returns the recorded output of an earlier success, if the record is the whole output. */
  #reuse(prior: CallSummary): MaybePromise<BegunCall> {
    return chain(answerFromRecord(this.#call, prior), (answer) => {
      if (answer !== undefined) return answer
      // What a retry may repeat with its key, a call that is the same one may not.
      if (this.#continued || this.#raced) return refuseRepetition(this.#call, prior)
      this.#call.definition.warn(
        `Tool "${prior.toolName}" runs again with the key ${this.#key}: the output of the earlier call was not recorded whole, so it cannot be returned.`,
      )
      noteUnreusable(this.#call, prior)
      this.#repeats = true
      return this.#runAdmitted()
    })
  }

  /** Leads the call through the tool's gates, then goes on; what they set aside is given back when it does not run. */
  #admitted(proceed: () => MaybePromise<BegunCall>): MaybePromise<BegunCall> {
    const { definition, task, journal, record, options } = this.#call
    const { gates } = definition
    if (gates === undefined || this.#pass !== undefined) return proceed()
    const admission = rescue(
      () =>
        passGates({
          definition,
          gates,
          task,
          policy: journal.policy,
          row: record.row,
          callKey: this.#callKey,
          args: this.#args,
          messages: options.messages,
          context: () => this.#running().context,
        }),
      (error) => this.#turnedAway(error),
    )
    return chain(admission, (admitted) => {
      if (admitted.args !== this.#args) {
        this.#args = admitted.args
        record.describeInput(admitted.args)
      }
      if (admitted.kind === 'answer') return this.#answerFromCache(admitted.result)
      if (admitted.kind === 'raced') {
        this.#raced = true
        this.#prior = [...this.#prior, summarizeRow(admitted.winner, Date.now())]
        return this.proceed()
      }
      this.#pass = admitted.pass
      const begun = rescue(proceed, (error) =>
        chain(this.#givePassBack(), () => {
          throw error
        }),
      )
      return chain(begun, (call) =>
        call.kind === 'run' ? call : chain(this.#givePassBack(), () => call),
      )
    })
  }

  #turnedAway(error: unknown): MaybePromise<never> {
    const { task, journal, ending } = this.#call
    const waits = isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
    // Outside a run there is nothing to pause, and nobody to resume it.
    if (waits && !task.ephemeral) journal.pause.add(error)
    return ending.refuse(error)
  }

  #answerFromCache({ output, callToken }: CachedResult): MaybePromise<BegunCall> {
    const { record, ending } = this.#call
    const hit = { status: 'success', effect: 'none', fromCache: true } as const
    const recorded = { ...hit, output: record.describeOutput(output), replayOf: callToken }
    return chain(ending.recordUnrun(recorded), () => ({
      kind: 'answer' as const,
      output,
    }))
  }

  #givePassBack(): MaybePromise<void> {
    const pass = this.#pass
    this.#pass = undefined
    return pass?.release()
  }

  /** Stores the start row and goes on, or deals with whoever holds the key. */
  #start(proceed: () => MaybePromise<BegunCall>): MaybePromise<BegunCall> {
    const { task, journal, record, ending, abort } = this.#call
    // The gates may have waited long, for a person perhaps.
    const stopped = stoppedError(this.#call)
    if (stopped !== undefined) return ending.refuse(stopped)
    const started = rescue(
      () => record.start(this.#claim(), ending.unsafe ? 'fsync' : 'relaxed'),
      (error) => {
        ending.withoutLog(error)
        return { ok: true } as const
      },
    )
    return chain(started, (result) => {
      if (!result.ok) return this.#contend(result.existing)
      if (record.stored && !task.ephemeral) {
        const { callToken, toolName } = record.row
        journal.leases.hold(callToken, () => abort.abort(fencedError(toolName, callToken)))
      }
      return chain(this.#pass?.stillApproved(), (approved = true) => {
        if (!approved) return ending.refuse(inProgressError(record.row.toolName, 0, this.#key))
        const stoppedSince = stoppedError(this.#call)
        return stoppedSince === undefined ? proceed() : ending.refuse(stoppedSince)
      })
    })
  }

  #claim(): ToolCallClaim | null {
    const { definition, journal } = this.#call
    // Reads never block each other, and calls that share the key of a task are no repetitions of each other.
    if (!definition.metadata.sideEffect || this.#identity.taskScoped) return null
    const once = this.#continued || this.#onRetry === 'reuse' || this.#onRetry === 'block'
    const repeats = this.#repeats || journal.allowed.has(this.#key)
    return once && !repeats ? 'once' : 'inflight'
  }

  async #contend(existing: ToolCallRow): Promise<BegunCall> {
    const { task, options, ending } = this.#call
    const { log, timeoutMs } = task
    const signal = options.abortSignal
    let holder: ToolCallRow | undefined
    try {
      holder = await waitForHolder(log, existing, { waitMs: timeoutMs, signal })
    } catch (error) {
      if (signal?.aborted === true) return ending.refuse(stoppedError(this.#call) ?? error)
      ending.withoutLog(error)
    }
    if (holder === undefined) {
      return ending.refuse(inProgressError(existing.toolName, timeoutMs, this.#key))
    }
    // Whoever loses a race to the very same call gets the winner's output, whatever the tool does on a retry.
    this.#raced ||= holder.status === 'success'
    this.#drifted = undefined
    this.#prior = [...this.#prior, summarizeRow(holder, Date.now())]
    // What was decided about this call was decided without the holder's.
    await this.#givePassBack()
    return this.proceed()
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
