import type { MaybePromise } from '../async/maybe-promise.ts'
import { type CallEffect, isSmithersError, type SmithersError } from '../errors/smithers-error.ts'
import {
  fencedError,
  finishLostError,
  logUnavailableError,
  snapshotTimeoutError,
} from './call-errors.ts'
import type { CallOutcome, CallRecord } from './call-record.ts'
import { chain, rescue } from '../async/maybe-promise.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/** How one call ends: its finished row, the snapshot, and what a failure of the log means for its run. */
export class CallFinish {
  readonly #definition: ToolDefinition
  readonly #journal: AttemptJournal
  readonly #record: CallRecord
  readonly #toolCallId: string
  /** Running the call a second time by accident does harm, so it runs only when its start is recorded. */
  readonly unsafe: boolean

  constructor(
    definition: ToolDefinition,
    journal: AttemptJournal,
    record: CallRecord,
    toolCallId: string,
  ) {
    const { sideEffect, idempotent } = definition.metadata
    this.#definition = definition
    this.#journal = journal
    this.#record = record
    this.#toolCallId = toolCallId
    this.unsafe = sideEffect && !idempotent
  }

  /** Records that the call was not run, and throws. */
  refuse(error: unknown): MaybePromise<never> {
    return chain(this.recordUnrun({ status: 'error', error, effect: 'none' }), () => {
      throw error
    })
  }

  /** Leaves a row of a call whose tool did not run; without the log, the answer is the same. */
  recordUnrun(outcome: CallOutcome): MaybePromise<unknown> {
    const { onLogError } = this.#journal.policy
    return rescue(
      () =>
        chain(this.#record.stored ? undefined : this.#record.start(null, 'relaxed'), () => {
          this.#journal.leases.release(this.#record.row.callToken)
          return chain(this.#record.finish(outcome), () => this.#record.end())
        }),
      (error) => {
        this.#record.forget()
        onLogError(error)
      },
    )
  }

  /** Finishes the row; returns the error of a call that was taken over meanwhile. */
  finish(outcome: CallOutcome): MaybePromise<SmithersError | undefined> {
    const { callToken, toolName } = this.#record.row
    const { policy } = this.#journal
    const thrown = outcome.status === 'error' ? outcome.error : undefined
    if (isSmithersError(thrown) && thrown.fatal === true) this.#journal.raise(thrown)
    this.#journal.leases.release(callToken)
    return rescue(
      () =>
        chain(this.#record.finish(outcome), (result) => {
          if (result === 'ok') return undefined
          const fenced = fencedError(toolName, callToken)
          if (this.#definition.metadata.sideEffect) {
            this.#journal.raise(fenced)
            return fenced
          }
          policy.onLogError(fenced)
          return undefined
        }),
      (error) => {
        if (this.unsafe) this.#journal.raise(finishLostError(toolName, callToken, error))
        else policy.onLogError(error)
        return undefined
      },
    )
  }

  /** The log failed before the tool ran. Fails closed where a second run does harm, else goes on without a row. */
  withoutLog(error: unknown): void {
    if (!this.unsafe) return this.#journal.policy.onLogError(error)
    this.#record.forget()
    const unavailable = logUnavailableError(this.#definition.metadata.name, error)
    this.#journal.raise(unavailable)
    throw unavailable
  }

  /** What a tool that threw may have done. */
  effectOf(error: unknown): CallEffect {
    if (isSmithersError(error) && error.effect !== undefined) return error.effect
    return this.#definition.metadata.sideEffect ? 'unknown' : 'none'
  }

  /** Calls the engine's snapshot hook of a tool with a side effect, whose failure changes nothing, and ends the events. */
  snapshot(): MaybePromise<void> {
    const { name, sideEffect } = this.#definition.metadata
    if (!sideEffect || !this.#journal.policy.snapshots) return this.#record.end()
    const { task } = this.#journal
    const taken = withTimeout(task.durabilitySnapshot(name, this.#toolCallId), {
      timeoutMs: task.timeoutMs,
      timedOut: (timeoutMs) => snapshotTimeoutError(name, timeoutMs),
    })
    return taken.then(
      () => this.#record.end(),
      (error: unknown) => this.#record.end(error),
    )
  }
}
