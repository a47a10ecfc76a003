import { type RecordedJson, recordJson } from '../json/recorded-json.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeferredRecord, isDeferrable } from '../json/deferred-record.ts'
import { withDeferredOutput } from '../log/deferred-output.ts'
import type { FinishPatch, StartOptions, StartResult, StartRow } from '../log/tool-call-log.ts'
import { CallEvents } from './call-events.ts'
import type { CallOutcome } from './call-outcome.ts'
import { CallTrace, finishedCall } from './call-trace.ts'
import { CallNetwork } from './call-network.ts'
import type { CallIdentity } from '../history/call-identity.ts'
import { logUnavailableError, supersededError } from './call-errors.ts'
import { isNoAnswer, noAnswer } from '../log/bounded-log.ts'
import { nowOf } from '../log/log-clock.ts'
import { effectScopeOf } from './error-effect.ts'
import { type CallSummary, codeOf, summarizeBegun } from '../history/call-summary.ts'
import { withPatch } from './logged-patch.ts'
import { loggedInput, loggedOutput } from './log-mappers.ts'
import type { CallAbort } from '../async/call-abort.ts'
import { isThenable, settled, type Steps } from '../async/maybe-promise.ts'
import { recordError, type RecordedError } from '../json/recorded-error.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { visibleError } from './visible-error.ts'

/** Another call holds the key, or uses the approval. */
type Contended = Extract<StartResult, { existing: unknown }>

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

/** Under this key the context of a call has its record. */
export const callRecord: unique symbol = Symbol.for('smithers.tool.call-record') as never

/** The row of one call, and the events that tell of it. */
export class CallRecord {
  readonly #definition: ToolDefinition
  readonly journal: AttemptJournal
  readonly #abort: CallAbort
  readonly #ordinal: number
  // Filled in as the call proceeds; a copy at each step would cost more than the steps.
  readonly #row: Writable<StartRow>
  readonly row: StartRow
  readonly events: CallEvents = new CallEvents()
  readonly network: CallNetwork = new CallNetwork()
  /** What watches the call. */
  readonly trace: CallTrace | undefined
  /** True once the log holds the start. */
  stored = false
  /** When the start was sent, by `performance.now()`. */
  startSentAt = 0
  /** True once the tool's function was called. */
  ran = false
  #known: CallSummary | undefined
  #fingerprint = ''

  constructor(
    definition: ToolDefinition,
    journal: AttemptJournal,
    toolCallId: string | null,
    abort: CallAbort,
  ) {
    this.#abort = abort
    this.#definition = definition
    this.journal = journal
    this.#ordinal = journal.nextOrdinal()
    const { runId, nodeId, iteration, attempt } = journal.task
    const { name, sideEffect, idempotent } = definition.metadata
    this.#row = {
      runId,
      nodeId,
      iteration,
      attempt,
      seq: 0,
      toolName: name,
      inputJson: null,
      startedAtMs: 0,
      callToken: crypto.randomUUID(),
      toolCallId,
      idempotencyKey: null,
      inputHash: null,
      occurrence: 0,
      sideEffect,
      idempotent,
      ownerId: journal.ownerId,
      leaseExpiresAtMs: null,
      replayOf: null,
      effectScope: sideEffect ? effectScopeOf(definition, journal.task) : null,
      traceId: null,
      spanId: null,
    }
    this.row = this.#row
    this.trace = CallTrace.begin(journal.policy.telemetry, this.#row)
    if (this.trace === undefined) return
    this.#row.traceId = this.trace.traceId
    this.#row.spanId = this.trace.spanId
  }

  /** Puts into the row what the log may see of the parsed input. */
  describeInput(args: unknown): void {
    const { logInput } = this.#definition
    this.describeGiven(logInput === undefined ? args : loggedInput(this.#definition, args))
  }

  /** Puts a value into the row as the input, without the tool's mapper. */
  describeGiven(input: unknown): void {
    const { policy, task } = this.journal
    const limit = policy.maxInputBytes ?? task.maxOutputBytes
    this.#row.inputJson = recordJson(input, policy.redact, limit).json
  }

  /** Adds a patch to the logged arguments, which are an object: redacted, and cut to what fits beside them. */
  describePatch(patch: unknown): void {
    const { policy, task } = this.journal
    const { inputJson } = this.#row
    if (inputJson?.startsWith('{') !== true || inputJson.startsWith('{"$truncated":')) return
    const limit = policy.maxInputBytes ?? task.maxOutputBytes
    this.#row.inputJson = withPatch(inputJson, patch, policy.redact, limit)
  }

  /** Gives the call its identity, from now on known to the task's other calls. */
  identify(identity: CallIdentity, occurrence: number): void {
    this.#row.inputHash = identity.inputHash
    this.#row.idempotencyKey = identity.keyAt(occurrence)
    this.#row.occurrence = occurrence
    this.#fingerprint = identity.fingerprint
    this.#known = summarizeBegun(
      this.#row,
      this.journal.seqOf(this.#ordinal),
      nowOf(this.journal.task.log),
    )
    this.journal.history.addBegun(identity.fingerprint, this.#known)
  }

  /**
   * Stores the start row, with a claim on its key when asked. An abort ends the wait for the log; of a call that does
   * not run, only a second later.
   */
  *start(
    options: StartOptions,
    { runs }: { readonly runs: boolean } = { runs: true },
  ): Steps<{ readonly ok: true } | Contended> {
    const { task, policy } = this.journal
    for (let rebases = 0; ; rebases += 1) {
      const startedAtMs = nowOf(task.log)
      this.#row.seq = this.journal.seqOf(this.#ordinal)
      this.#row.startedAtMs = startedAtMs
      this.#row.leaseExpiresAtMs = startedAtMs + policy.leaseMs
      this.startSentAt = performance.now()
      const starting = task.log.start(this.#row, options)
      const result = isThenable(starting)
        ? ((yield this.#startInTime(starting, runs)) as StartResult)
        : starting
      if (result.ok) {
        this.stored = true
        this.trace?.started(this.#row, performance.now() - this.startSentAt)
        return result
      }
      if (result.reason === 'superseded') throw supersededError(this.#row)
      if (result.reason !== 'seq-taken') return result
      // Another worker writes to the same attempt.
      if (rebases >= mostRebases) throw new Error(`seq ${this.#row.seq} of the attempt is taken.`)
      yield* this.journal.rebase()
    }
  }

  async #startInTime(starting: PromiseLike<StartResult>, runs: boolean): Promise<StartResult> {
    const { log } = this.journal.task
    const inTime = this.#answer(starting)
    try {
      return await (runs ? this.#abort.race(inTime) : inTime)
    } catch (error) {
      // The row may still be stored. Then it says what became of the call, and its claim ends.
      starting
        .then(
          ({ ok }) => ok && log.finish(this.#row.callToken, this.#lateStart(error)),
          () => undefined,
        )
        .then(undefined, this.journal.policy.onLogError)
      throw error
    }
  }

  #lateStart(cause: unknown): FinishPatch {
    const { sideEffect, idempotent } = this.#definition.metadata
    // What is safe to repeat has run without its row.
    const error = logUnavailableError(this.#row.toolName, cause)
    const effect = sideEffect && idempotent ? 'unknown' : 'none'
    const outcome = { status: 'error', error, effect } as const
    return this.#patchOf(outcome, this.#recordFailure(outcome))
  }

  /** An answer of the log to what has happened. */
  #answer<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
    const { name } = this.journal.task.log
    const { logTimeoutMs } = this.journal.policy
    return this.#abort.lastly(answer, logTimeoutMs, () => noAnswer(name, logTimeoutMs))
  }

  /** Finishes the row; `'fenced'` when another worker has. */
  *finish(outcome: CallOutcome): Steps<'ok' | 'fenced'> {
    const failure = outcome.status === 'error' ? this.#recordFailure(outcome) : undefined
    const patch = this.#patchOf(outcome, failure)
    this.#remember(patch)
    const since = performance.now()
    let result: 'ok' | 'fenced' | 'lost' = 'lost'
    try {
      result = this.stored ? yield* this.#finishRow(patch) : 'ok'
    } finally {
      const logWriteMs = this.stored ? performance.now() - since : null
      const end = { outcome, ran: this.ran, result, logWriteMs }
      this.trace?.end(() => finishedCall(this.#row, patch, end))
    }
    this.events.settle(this.#row, patch, () =>
      failure && outcome.status === 'error'
        ? visibleError(outcome.error, failure, this.journal.policy.redact)
        : undefined,
    )
    return result
  }

  /** Tries again for about two seconds: the effect has happened, so losing its record is the last resort. */
  *#finishRow(patch: FinishPatch): Steps<'ok' | 'fenced'> {
    const { callToken } = this.#row
    for (let tries = 0; ; tries += 1) {
      try {
        const finishing = this.journal.task.log.finish(callToken, patch)
        const result = isThenable(finishing)
          ? ((yield this.#answer(finishing)) as 'ok' | 'fenced')
          : finishing
        if (result === 'ok' || tries === 0) return result
        // A try whose answer was lost may have finished the row: then the log holds what this call wrote.
        const [row] = yield* settled(this.journal.log.list({ callToken, limit: 1 }))
        const isOurs = row?.finishedAtMs === patch.finishedAtMs && row.status === patch.status
        return isOurs ? 'ok' : 'fenced'
      } catch (error) {
        const delayMs = finishDelaysMs[tries]
        if (delayMs === undefined || isNoAnswer(error)) throw error
        yield sleep(delayMs)
      }
    }
  }

  /** What the log may see of an output. */
  describeOutput(output: unknown): RecordedJson {
    const { policy, task } = this.journal
    const { logOutput, returnsWholeText } = this.#definition
    const { redact } = policy
    const { maxOutputBytes } = task
    if (logOutput === undefined) {
      return returnsWholeText && isDeferrable(output, redact, maxOutputBytes)
        ? new DeferredRecord(output, redact, maxOutputBytes)
        : recordJson(output, redact, maxOutputBytes)
    }
    const seen = loggedOutput(this.#definition, output)
    // What a mapper has made of the output is not the output.
    return { ...recordJson(seen, redact, maxOutputBytes), exact: false }
  }

  /** The tool was not run and the log does not say so: the next equal call gets its occurrence. */
  forget(): void {
    if (this.#known === undefined) return
    this.#known.status = 'error'
    this.#known.effect = 'none'
    this.journal.history.markFailed(this.#fingerprint, this.#known)
  }

  #recordFailure({ error, effect }: Extract<CallOutcome, { status: 'error' }>): RecordedError {
    const { policy, task } = this.journal
    const { errorStacks: stacks, redact } = policy
    return recordError(error, redact, { stacks, maxBytes: task.maxOutputBytes, effect })
  }

  #patchOf(outcome: CallOutcome, failure: RecordedError | undefined): FinishPatch {
    const { status, effect } = outcome
    const finishedAtMs = nowOf(this.journal.task.log)
    const networkJson = this.network.json(this.journal.policy.redact)
    const network = networkJson === undefined ? undefined : { networkJson }
    if (status === 'success') {
      const { output, replayOf = null, fromCache = false } = outcome
      const patch = { status, errorJson: null, effect, finishedAtMs, replayOf, fromCache }
      return output instanceof DeferredRecord && network === undefined
        ? withDeferredOutput(patch, output)
        : { ...patch, outputJson: output.json, outputExact: output.exact, ...network }
    }
    const errorJson = failure?.json ?? null
    return { status, outputJson: null, errorJson, effect, finishedAtMs, ...network }
  }

  #remember(patch: FinishPatch): void {
    if (this.#known === undefined) return
    this.#known.status = patch.status
    this.#known.effect = patch.effect
    this.#known.errorCode = codeOf(patch.errorJson)
    if (patch.status === 'error') this.journal.history.markFailed(this.#fingerprint, this.#known)
  }
}

const mostRebases = 10

/** Pauses before further tries to finish a row. */
const finishDelaysMs: readonly number[] = [20, 100, 500, 1000]
