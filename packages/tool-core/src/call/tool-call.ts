import { randomUUID } from 'node:crypto'
import { contextOfCall } from '../ambient-context.ts'
import { hashInput, idempotencyKey } from '../idempotency-key.ts'
import { currentOwnerId } from '../log/process-owner.ts'
import type { MaybePromise, StartRow } from '../log/tool-call-log.ts'
import { type CallEffect, isSmithersError, SmithersError } from '../smithers-error.ts'
import type { ToolCallOptions } from '../tool-call-options.ts'
import type { TaskContext, ToolContext } from '../tool-context.ts'
import { type ToolCallEvent, toolCallChannel } from './call-events.ts'
import { chain, isThenable } from './maybe-promise.ts'
import { recordError, recordJson } from './recorded-json.ts'
import { journalOf, type TaskJournal } from './task-journal.ts'
import type { ToolDefinition } from './tool-definition.ts'
import { validateInput } from './validate-input.ts'

/** A call that may run: its parsed arguments and the context it gets. */
export interface BegunCall {
  readonly args: unknown
  readonly context: ToolContext
}

/** One call of one tool, from its arguments to its finished row. */
export class ToolCall {
  readonly #definition: ToolDefinition
  readonly #task: TaskContext
  readonly #journal: TaskJournal
  readonly #options: ToolCallOptions
  readonly #ordinal: number
  readonly #callToken: string = randomUUID()
  #event: ToolCallEvent | undefined

  /** Takes the call's place in its task. Nothing is awaited before, so places are in the order of calls. */
  constructor(definition: ToolDefinition, options: ToolCallOptions) {
    this.#definition = definition
    this.#options = options
    this.#task = contextOfCall(options)
    this.#journal = journalOf(this.#task)
    this.#ordinal = this.#journal.nextOrdinal()
  }

  /** Validates, derives the key and stores the start row. Throws when the tool must not run. */
  begin(given: unknown): MaybePromise<BegunCall> {
    return chain(this.#journal.open(), () =>
      chain(validateInput(this.#definition, given), (args) => {
        const { metadata, logInput } = this.#definition
        const { runId, nodeId, iteration } = this.#task
        const { policy } = this.#journal
        const inputHash = hashInput(args, policy.keySecret)
        const { namespace } = policy
        const { name: toolName } = metadata
        const key = idempotencyKey(
          { namespace, runId, nodeId, iteration, toolName, subject: inputHash },
          0,
        )
        const row: StartRow = {
          runId,
          nodeId,
          iteration,
          attempt: this.#task.attempt,
          seq: this.#journal.seqOf(this.#ordinal),
          toolName,
          inputJson: recordJson(
            logInput === undefined ? args : logInput(args),
            policy.redact,
            policy.maxInputBytes ?? this.#task.maxOutputBytes,
          ).json,
          startedAtMs: Date.now(),
          callToken: this.#callToken,
          toolCallId: this.#options.toolCallId,
          idempotencyKey: key,
          inputHash,
          occurrence: 0,
          sideEffect: metadata.sideEffect,
          idempotent: metadata.idempotent,
          ownerId: currentOwnerId(),
          leaseExpiresAtMs: null,
          replayOf: null,
          traceId: null,
          spanId: null,
        }
        const started = this.#task.log.start(row, { durability: 'relaxed', claim: null })
        return chain(started, () => ({ args, context: this.#contextFor(row) }))
      }),
    )
  }

  succeed(output: unknown): MaybePromise<unknown> {
    const { sideEffect } = this.#definition.metadata
    const { logOutput } = this.#definition
    const finished = this.#task.log.finish(this.#callToken, {
      status: 'success',
      outputJson: recordJson(
        logOutput === undefined ? output : logOutput(output),
        this.#journal.policy.redact,
        this.#task.maxOutputBytes,
      ).json,
      errorJson: null,
      effect: sideEffect ? 'applied' : 'none',
      finishedAtMs: Date.now(),
    })
    return chain(finished, () => chain(this.#snapshot(), () => output))
  }

  fail(error: unknown): MaybePromise<void> {
    const { policy } = this.#journal
    const effect = this.#effectOf(error)
    const finished = this.#task.log.finish(this.#callToken, {
      status: 'error',
      outputJson: null,
      errorJson: recordError(error, policy.redact, {
        stacks: policy.errorStacks,
        maxBytes: this.#task.maxOutputBytes,
        effect,
      }),
      effect,
      finishedAtMs: Date.now(),
    })
    return chain(finished, () => this.#snapshot())
  }

  #effectOf(error: unknown): CallEffect {
    if (isSmithersError(error) && error.effect !== undefined) return error.effect
    return this.#definition.metadata.sideEffect ? 'unknown' : 'none'
  }

  #snapshot(): MaybePromise<void> {
    if (!this.#definition.metadata.sideEffect || !this.#journal.policy.snapshots) return undefined
    return this.#task
      .durabilitySnapshot(this.#definition.metadata.name, this.#options.toolCallId)
      .then(
        () => {},
        (error: unknown) => {
          if (this.#event !== undefined) this.#event.snapshotError = error
        },
      )
  }

  #contextFor(row: StartRow): ToolContext {
    const options = this.#options
    return Object.freeze({
      ...this.#task,
      idempotencyKey: row.idempotencyKey ?? '',
      toolName: row.toolName,
      sideEffect: row.sideEffect,
      idempotent: row.idempotent,
      seq: row.seq,
      occurrence: row.occurrence,
      toolCallId: options.toolCallId,
      messages: options.messages,
      abortSignal: options.abortSignal ?? new AbortController().signal,
      context: options.context ?? options.experimental_context,
      experimental_sandbox: options.experimental_sandbox,
    })
  }
}
