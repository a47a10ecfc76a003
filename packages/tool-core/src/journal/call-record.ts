import { currentOwnerId } from '../log/process-owner.ts'
import type { FinishPatch, StartOptions, StartResult, StartRow } from '../log/tool-call-log.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallClaim } from '../log/tool-call-row.ts'
import type { CallEffect } from '../errors/smithers-error.ts'
import { CallEvents } from './call-events.ts'
import type { CallIdentity } from '../history/call-identity.ts'
import { effectScopeOf } from './effect-scope.ts'
import { finishRow } from './finish-row.ts'
import type { CallSummary } from '../history/call-history.ts'
import { loggedInput, loggedOutput } from './log-mappers.ts'
import { chain } from '../async/maybe-promise.ts'
import {
  recordError,
  type RecordedError,
  type RecordedJson,
  recordJson,
} from '../json/recorded-json.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { visibleError } from './visible-error.ts'

/** How a call ended, as its row tells it. */
export type CallOutcome =
  | {
      readonly status: 'success'
      readonly output: RecordedJson
      readonly effect: CallEffect
      readonly replayOf?: string
      readonly fromCache?: boolean
    }
  | { readonly status: 'error'; readonly error: unknown; readonly effect: CallEffect }

type ClaimedKey = Extract<StartResult, { reason: 'claimed' }>

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

/** The row of one call, and the events that tell of it. */
export class CallRecord {
  readonly #definition: ToolDefinition
  readonly #journal: AttemptJournal
  readonly #ordinal: number
  // Filled in as the call proceeds; a copy at each step would cost more than the steps.
  readonly #row: Writable<StartRow>
  readonly #events: CallEvents = new CallEvents()
  #known: CallSummary | undefined
  #fingerprint = ''
  #stored = false

  constructor(definition: ToolDefinition, journal: AttemptJournal, toolCallId: string | null) {
    this.#definition = definition
    this.#journal = journal
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
      ownerId: currentOwnerId(),
      leaseExpiresAtMs: null,
      replayOf: null,
      effectScope: effectScopeOf(definition, journal.task),
      traceId: null,
      spanId: null,
    }
  }

  get row(): StartRow {
    return this.#row
  }

  /** True once the log holds the start. */
  get stored(): boolean {
    return this.#stored
  }

  /** Puts into the row what the log may see of the parsed input. */
  describeInput(args: unknown): void {
    this.describeGiven(loggedInput(this.#definition, args))
  }

  /** Puts a value into the row as the input, without the tool's mapper. */
  describeGiven(input: unknown): void {
    const { policy, task } = this.#journal
    const limit = policy.maxInputBytes ?? task.maxOutputBytes
    this.#row.inputJson = recordJson(input, policy.redact, limit).json
  }

  /** Gives the call its identity, from now on known to the task's other calls. */
  identify(identity: CallIdentity, occurrence: number): void {
    this.#row.inputHash = identity.inputHash
    this.#row.idempotencyKey = identity.keyAt(occurrence)
    this.#row.occurrence = occurrence
    this.#fingerprint = identity.fingerprint
    const { toolName, toolCallId, idempotencyKey, inputHash, attempt, inputJson } = this.#row
    const { sideEffect, idempotent } = this.#definition.metadata
    this.#known = {
      callToken: this.#row.callToken,
      toolName,
      toolCallId,
      idempotencyKey,
      inputHash,
      occurrence,
      attempt,
      seq: this.#journal.seqOf(this.#ordinal),
      startedAtMs: Date.now(),
      sideEffect,
      idempotent,
      effectScope: this.#row.effectScope ?? 'external',
      inputJson: sideEffect ? inputJson : null,
      status: 'started',
      effect: null,
      errorJson: null,
    }
    this.#journal.history.addBegun(identity.fingerprint, this.#known)
  }

  /** Stores the start row, with a claim on its key when asked. */
  start(
    claim: ToolCallClaim | null,
    durability: StartOptions['durability'],
  ): MaybePromise<{ readonly ok: true } | ClaimedKey> {
    return this.#start({ claim, durability }, 0)
  }

  /** Finishes the row; `'fenced'` when somebody else has. */
  finish(outcome: CallOutcome): MaybePromise<'ok' | 'fenced'> {
    const failure = outcome.status === 'error' ? this.#recordFailure(outcome) : undefined
    const patch = this.#patchOf(outcome, failure)
    this.#remember(patch)
    const finished = this.#stored
      ? finishRow(this.#journal.task.log, this.#row.callToken, patch)
      : 'ok'
    return chain(finished, (result) => {
      this.#events.settle(this.#row, patch, () =>
        failure && outcome.status === 'error'
          ? visibleError(outcome.error, failure, this.#journal.policy.redact)
          : undefined,
      )
      return result
    })
  }

  /** What the log may see of an output. */
  describeOutput(output: unknown): RecordedJson {
    const { policy, task } = this.#journal
    const seen = loggedOutput(this.#definition, output)
    const recorded = recordJson(seen, policy.redact, task.maxOutputBytes)
    // What a mapper has made of the output is not the output.
    return this.#definition.logOutput === undefined ? recorded : { ...recorded, exact: false }
  }

  /** Runs the synchronous part of the tool, with whatever subscribers of the events bind to it. */
  around<Result>(fn: () => Result): Result {
    return this.#events.around(this.#row, fn)
  }

  /** Tells that the call is over. */
  end(snapshotError?: unknown): void {
    this.#events.end(snapshotError)
  }

  /** The tool was not run and the log does not say so: the call leaves its place to the next equal one. */
  forget(): void {
    if (this.#known === undefined) return
    this.#known.status = 'error'
    this.#known.effect = 'none'
    this.#journal.history.markFailed(this.#fingerprint, this.#known)
  }

  #start(options: StartOptions, rebases: number): MaybePromise<{ readonly ok: true } | ClaimedKey> {
    const { task, policy } = this.#journal
    const startedAtMs = Date.now()
    this.#row.seq = this.#journal.seqOf(this.#ordinal)
    this.#row.startedAtMs = startedAtMs
    this.#row.leaseExpiresAtMs = startedAtMs + policy.leaseMs
    return chain(task.log.start(this.#row, options), (result) => {
      if (result.ok) {
        this.#stored = true
        return result
      }
      if (result.reason === 'claimed') return result
      // Another worker writes to the same attempt.
      if (rebases >= mostRebases) throw new Error(`seq ${this.#row.seq} of the attempt is taken.`)
      return chain(this.#journal.rebase(), () => this.#start(options, rebases + 1))
    })
  }

  #recordFailure({ error, effect }: Extract<CallOutcome, { status: 'error' }>): RecordedError {
    const { policy, task } = this.#journal
    const { errorStacks: stacks, redact } = policy
    return recordError(error, redact, { stacks, maxBytes: task.maxOutputBytes, effect })
  }

  #patchOf(outcome: CallOutcome, failure: RecordedError | undefined): FinishPatch {
    const { status, effect } = outcome
    const finishedAtMs = Date.now()
    if (status === 'success') {
      const { output, replayOf = null, fromCache = false } = outcome
      return {
        status,
        outputJson: output.json,
        outputExact: output.exact,
        errorJson: null,
        effect,
        finishedAtMs,
        replayOf,
        fromCache,
      }
    }
    return { status, outputJson: null, errorJson: failure?.json ?? null, effect, finishedAtMs }
  }

  #remember(patch: FinishPatch): void {
    if (this.#known === undefined) return
    this.#known.status = patch.status
    this.#known.effect = patch.effect
    this.#known.errorJson = patch.errorJson
    if (patch.status === 'error') this.#journal.history.markFailed(this.#fingerprint, this.#known)
  }
}

const mostRebases = 10
