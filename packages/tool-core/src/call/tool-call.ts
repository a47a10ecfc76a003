import { contextOfCall, getToolContext, runWithToolContext } from '../ambient-context.ts'
import type { MaybePromise } from '../log/tool-call-log.ts'
import type { ToolCallClaim, ToolCallRow } from '../log/tool-call-row.ts'
import { isSmithersError, type SmithersError } from '../smithers-error.ts'
import { completeCallOptions, type ToolCallOptions } from '../tool-call-options.ts'
import type { TaskContext, ToolContext } from '../tool-context.ts'
import { inlineOutput } from '../gates/inline-output.ts'
import { type SettleEnd, taskEndedError } from '../gates/task-end.ts'
import type { GatePass } from '../gates/gate-pass.ts'
import { passGates } from '../gates/pass-gates.ts'
import { repetitionNote } from '../repetition-note.ts'
import { CallAbort } from './call-abort.ts'
import {
  abortedError,
  blockedError,
  fencedError,
  inProgressError,
  unverifiedError,
} from './call-errors.ts'
import { CallEnding } from './call-ending.ts'
import { type CallIdentity, identifyCall } from './call-identity.ts'
import { CallRecord } from './call-record.ts'
import type { CachedResult } from '../gates/result-cache.ts'
import { createCallContext } from './call-context.ts'
import { hintAtMissingRun } from './definition-warning.ts'
import { type KnownCall, knownCall, outcomeOf } from './known-calls.ts'
import { chain, rescue } from './maybe-promise.ts'
import { isExactRecord, readRecordedJson } from './read-recorded-json.ts'
import { decideReplay, onRetryOf } from './replay-decision.ts'
import { journalOf, type TaskJournal } from './task-journal.ts'
import type { OnRetry, PriorCall, ToolDefinition, Verdict } from './tool-definition.ts'
import { describeInvalidInput, validateInput } from './validate-input.ts'
import { waitForHolder } from './wait-for-holder.ts'

/** What a call came to before its tool ran: it runs, or its output is already known. */
export type BegunCall =
  | { readonly kind: 'run'; readonly args: unknown; readonly context: ToolContext }
  | { readonly kind: 'answer'; readonly output: unknown }

/** One call of one tool, from its arguments to its finished row. */
export class ToolCall {
  readonly #definition: ToolDefinition
  readonly #task: TaskContext
  readonly #journal: TaskJournal
  readonly #options: ToolCallOptions
  readonly #record: CallRecord
  readonly #onRetry: OnRetry
  readonly #ending: CallEnding
  readonly abort: CallAbort
  #args: unknown
  #identity: CallIdentity | undefined
  #prior: readonly KnownCall[] = []
  #drifted: KnownCall | undefined
  #continued = false
  #raced = false
  /** Whether the task had ended when this call was made. */
  readonly #endedBefore: MaybePromise<boolean>
  readonly #settleEnd: SettleEnd | undefined
  /** What the tool's gates have set aside for the call. */
  #pass: GatePass | undefined
  /** A success is to be repeated, because its output was not recorded whole. */
  #repeats = false

  /** Takes the call's place in its task. Nothing is awaited before, so places are in the order of calls. */
  constructor(definition: ToolDefinition, given: ToolCallOptions | undefined) {
    const options = completeCallOptions(given)
    this.#definition = definition
    this.#options = options
    this.#task = contextOfCall(options)
    this.#journal = journalOf(this.#task)
    this.#record = new CallRecord(definition, this.#journal, options.toolCallId)
    this.#onRetry = onRetryOf(definition, this.#journal.policy.safety)
    this.#ending = new CallEnding(definition, this.#journal, this.#record, options.toolCallId)
    this.#endedBefore = this.#journal.end.ended
    this.#settleEnd = definition.endsTask ? this.#journal.end.mayEnd() : undefined
    this.abort = new CallAbort(() => [options.abortSignal, this.#journal.signal])
  }

  /** Validates, derives the key, decides, and stores the start row. Throws when the tool must not run. */
  begin(given: unknown): MaybePromise<BegunCall> {
    if (this.#task.ephemeral && this.#ending.unsafe) hintAtMissingRun(this.#definition)
    this.#journal.pause.begin()
    return chain(this.#open(), () =>
      chain(this.#endedBefore, (ended) => {
        const stopped = ended ? taskEndedError(this.#record.row.toolName) : this.#stopped()
        if (stopped !== undefined) return this.#refuseInput(stopped, given)
        const parsed = rescue(
          () => validateInput(this.#definition, given),
          (error) => this.#refuseInput(error, given),
        )
        return chain(parsed, (args) => {
          this.#args = args
          try {
            this.#identify()
          } catch (error) {
            return this.#ending.refuse(error)
          }
          this.#settleEnd?.(true)
          return this.#proceed()
        })
      }),
    )
  }

  /** The call is over, however it ended. */
  leave(): void {
    // Without effect when the call was valid.
    this.#settleEnd?.(false)
    this.#journal.pause.end()
  }

  /** Runs the synchronous part of the tool in the context of its task. */
  run<Result>(fn: () => Result): Result {
    return this.#record.around(() => this.within(fn))
  }

  /** Makes the task ambient, so that tools called by this one belong to it. */
  within<Result>(fn: () => Result): Result {
    return getToolContext() === this.#task ? fn() : runWithToolContext(this.#task, fn)
  }

  /** Records the output, and returns it. */
  succeed(output: unknown): MaybePromise<unknown> {
    const outputJson = this.#record.describeOutput(output)
    const effect = this.#definition.metadata.sideEffect ? 'applied' : 'none'
    return chain(this.#ending.finish({ status: 'success', outputJson, effect }), (fenced) => {
      if (fenced !== undefined) {
        void this.#pass?.failed(fenced, true)
        throw fenced
      }
      return chain(this.#pass?.succeeded(output), () =>
        chain(this.#ending.snapshot(), () => this.inline(output)),
      )
    })
  }

  /** What the agent gets of an output. */
  inline(output: unknown): MaybePromise<unknown> {
    const { policy } = this.#journal
    const { maxInlineOutputBytes: maxBytes, redact, onLogError } = policy
    const { archivesOutput, logOutput, streams } = this.#definition
    const { state, capabilities } = this.#task.log
    // What the log may not see whole is not kept whole either; what a stream has shown cannot be taken back.
    if (maxBytes === undefined || !archivesOutput || logOutput !== undefined || streams)
      return output
    if (state === undefined || capabilities.state !== true) return output
    return inlineOutput(output, {
      maxBytes,
      store: state,
      row: this.#record.row,
      redact,
      onLogError,
    })
  }

  /** Records that the tool failed. */
  fail(error: unknown): MaybePromise<void> {
    return chain(
      this.#ending.finish({ status: 'error', error, effect: this.#ending.effectOf(error) }),
      () =>
        chain(this.#pass?.failed(error, this.#endedFromOutside()), () => this.#ending.snapshot()),
    )
  }

  #open(): MaybePromise<void> {
    return rescue(
      () => this.#journal.open(),
      (error) => this.#ending.withoutLog(error),
    )
  }

  #stopped(): SmithersError | undefined {
    const { fatal, policy } = this.#journal
    const name = this.#definition.metadata.name
    if (fatal !== undefined) return abortedError(name, fatal)
    const aborted = [this.#options.abortSignal, policy.abortSignal].find((each) => each?.aborted)
    return aborted === undefined ? undefined : abortedError(name, aborted.reason)
  }

  #identify(): void {
    const { policy, known } = this.#journal
    const { toolCallId, messages } = this.#options
    const { name } = this.#definition.metadata
    this.#record.describeInput(this.#args)
    this.#identity = identifyCall(this.#definition, this.#task, policy, this.#args)
    const place = known.locate(name, this.#identity, toolCallId, messages)
    this.#continued = place.continued
    this.#prior = place.prior
    // A key of the tool's own names the intent, so another key is another intent.
    if (this.#ending.unsafe && place.prior.length === 0 && this.#definition.key === 'call') {
      this.#drifted = known.driftedFrom(name)
    }
    this.#record.identify(this.#identity, place.occurrence)
  }

  /** Decides on what is known of earlier calls, and does it. */
  #proceed(): MaybePromise<BegunCall> {
    const decision = decideReplay({
      onRetry: this.#onRetry,
      canVerify: this.#definition.verify !== undefined,
      prior: this.#prior,
      drifted: this.#drifted,
      continued: this.#continued || this.#raced,
      allowed: this.#journal.allowed.has(this.#key),
    })
    switch (decision.kind) {
      case 'reuse':
        return this.#reuse(decision.prior)
      case 'block':
        return this.#block(decision.prior)
      case 'verify':
        return this.#admitted(() => this.#start(() => this.#verify(decision.prior)))
      default:
        this.#note(decision.repeats)
        return this.#admitted(() => this.#start(() => this.#running()))
    }
  }

  /** Keeps for the result what the agent must know of the call that this one repeats, unless it has been told. */
  #note(repeated: KnownCall | undefined): void {
    const { known } = this.#journal
    if (repeated === undefined || this.#onRetry === 'rerun') return
    if (repeated.attempt === this.#task.attempt) return
    const { idempotencyKey, inputJson } = this.#record.row
    if (known.warned && repeated.idempotencyKey === idempotencyKey) return
    const call = { idempotencyKey: idempotencyKey ?? '', inputJson }
    known.notes.set(this.#options.toolCallId, repetitionNote(repeated, call))
  }

  /** Leads the call through the tool's gates, then goes on; what they set aside is given back when it does not run. */
  #admitted(proceed: () => MaybePromise<BegunCall>): MaybePromise<BegunCall> {
    const { gates } = this.#definition
    if (gates === undefined || this.#pass !== undefined) return proceed()
    const admission = rescue(
      () =>
        passGates({
          definition: this.#definition,
          gates,
          task: this.#task,
          policy: this.#journal.policy,
          row: this.#record.row,
          callKey: this.#callKey,
          args: this.#args,
          messages: this.#options.messages,
          context: () => this.#running().context,
        }),
      (error) => this.#turnedAway(error),
    )
    return chain(admission, (admitted) => {
      if (admitted.args !== this.#args) {
        this.#args = admitted.args
        this.#record.describeInput(admitted.args)
      }
      if (admitted.kind === 'answer') return this.#answerFrom(admitted.result)
      if (admitted.kind === 'raced') {
        this.#raced = true
        this.#prior = [...this.#prior, knownCall(admitted.winner, Date.now())]
        return this.#proceed()
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
    if (isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED') {
      this.#journal.pause.add(error)
    }
    return this.#ending.refuse(error)
  }

  #answerFrom({ output, callToken }: CachedResult): MaybePromise<BegunCall> {
    const outputJson = this.#record.describeOutput(output)
    const hit = { status: 'success', outputJson, effect: 'none', fromCache: true } as const
    return chain(this.#ending.recordUnrun({ ...hit, replayOf: callToken }), () => ({
      kind: 'answer' as const,
      output,
    }))
  }

  #givePassBack(): MaybePromise<void> {
    const pass = this.#pass
    this.#pass = undefined
    return pass?.unused()
  }

  /** Which call of the run this is, in every attempt; the documented key of a task does not tell its calls apart. */
  get #callKey(): string {
    const { inputHash, occurrence } = this.#record.row
    return this.#identity?.taskScoped === true
      ? JSON.stringify([this.#key, this.#definition.metadata.name, inputHash, occurrence])
      : this.#key
  }

  #endedFromOutside(): boolean {
    return [this.#options.abortSignal, this.#journal.signal].some((signal) => signal?.aborted)
  }

  /** Stores the start row and goes on, or deals with whoever holds the key. */
  #start(proceed: () => MaybePromise<BegunCall>): MaybePromise<BegunCall> {
    const started = rescue(
      () => this.#record.start(this.#claim(), this.#ending.unsafe ? 'fsync' : 'relaxed'),
      (error) => {
        this.#ending.withoutLog(error)
        return { ok: true } as const
      },
    )
    return chain(started, (result) => {
      if (!result.ok) return this.#contend(result.existing)
      if (this.#record.stored && !this.#task.ephemeral) {
        const { callToken, toolName } = this.#record.row
        this.#journal.leases.hold(callToken, () =>
          this.abort.abort(fencedError(toolName, callToken)),
        )
      }
      return proceed()
    })
  }

  #claim(): ToolCallClaim | null {
    // Reads never block each other, and calls that share the key of a task are no repetitions of each other.
    if (!this.#definition.metadata.sideEffect || this.#identity?.taskScoped === true) return null
    const once = this.#continued || this.#onRetry === 'reuse' || this.#onRetry === 'block'
    const repeats = this.#repeats || this.#journal.allowed.has(this.#key)
    return once && !repeats ? 'once' : 'inflight'
  }

  async #contend(existing: ToolCallRow): Promise<BegunCall> {
    const { log, timeoutMs } = this.#task
    const signal = this.#options.abortSignal
    let holder: ToolCallRow | undefined
    try {
      holder = await waitForHolder(log, existing, { waitMs: timeoutMs, signal })
    } catch (error) {
      if (signal?.aborted === true) return this.#ending.refuse(this.#stopped() ?? error)
      this.#ending.withoutLog(error)
    }
    if (holder === undefined) {
      return this.#ending.refuse(inProgressError(existing.toolName, timeoutMs, this.#key))
    }
    // Whoever loses a race to the very same call gets the winner's output, whatever the tool does on a retry.
    this.#raced = true
    this.#drifted = undefined
    this.#prior = [...this.#prior, knownCall(holder, Date.now())]
    // What was decided about this call was decided without the holder's.
    await this.#givePassBack()
    return this.#proceed()
  }

  #running(): Extract<BegunCall, { kind: 'run' }> {
    const context = createCallContext(this.#task, this.#record.row, this.#options, this.abort)
    return { kind: 'run', args: this.#args, context }
  }

  async #verify(prior: KnownCall): Promise<BegunCall> {
    const running = this.#running()
    const { toolName } = prior
    let verdict: Verdict<unknown> | undefined
    try {
      verdict = await this.within(() =>
        this.#definition.verify?.(this.#args, priorCall(prior), running.context),
      )
    } catch (error) {
      return this.#ending.refuse(unverifiedError(toolName, error))
    }
    if (verdict?.happened === true) {
      const { output } = verdict
      const outputJson = this.#record.describeOutput(output)
      const replay = { status: 'success', outputJson, effect: 'none' } as const
      const fenced = await this.#ending.finish({ ...replay, replayOf: prior.callToken })
      if (fenced !== undefined) throw fenced
      return { kind: 'answer', output }
    }
    return verdict?.happened === 'unknown' && this.#onRetry === 'block'
      ? this.#block(prior)
      : running
  }

  /** Returns the recorded output of an earlier success, if the record is the whole output. */
  #reuse(prior: KnownCall): MaybePromise<BegunCall> {
    return chain(this.#outputOf(prior), (outputJson) => {
      const recorded = this.#definition.logOutput === undefined && isExactRecord(outputJson)
      if (!recorded) {
        // What a retry may repeat with its key, a call that is the same one may not.
        if (this.#continued || this.#raced) return this.#block(prior)
        this.#definition.warn(
          `Tool "${prior.toolName}" runs again with the key ${this.#key}: the output of the earlier call was not recorded whole, so it cannot be returned.`,
        )
        this.#repeats = true
        return this.#admitted(() => this.#start(() => this.#running()))
      }
      const output = readRecordedJson(outputJson)
      const replay = {
        status: 'success',
        outputJson,
        effect: 'none',
        replayOf: prior.callToken,
      } as const
      return chain(this.#ending.recordUnrun(replay), () => ({ kind: 'answer' as const, output }))
    })
  }

  #block(prior: KnownCall): MaybePromise<never> {
    const { row } = this.#record
    return chain(this.#outputOf(prior), (outputJson) =>
      this.#ending.refuse(
        blockedError(row.toolName, this.#key, prior, { inputJson: row.inputJson, outputJson }),
      ),
    )
  }

  #outputOf(prior: KnownCall): MaybePromise<string | null> {
    const rows = this.#task.log.list({ callToken: prior.callToken, limit: 1 })
    return chain(rows, ([row]) => row?.outputJson ?? null)
  }

  #refuseInput(error: unknown, given: unknown): MaybePromise<never> {
    this.#record.describeGiven(describeInvalidInput(this.#definition, given))
    return this.#ending.refuse(error)
  }

  get #key(): string {
    return this.#record.row.idempotencyKey ?? ''
  }
}

function priorCall(prior: KnownCall): PriorCall {
  const { idempotencyKey, attempt, startedAtMs, inputJson, errorJson } = prior
  const outcome = outcomeOf(prior) === 'success' ? 'success' : 'unknown'
  return { idempotencyKey, attempt, startedAtMs, outcome, inputJson, errorJson }
}
