import type { Steps } from '../async/maybe-promise.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { isSmithersError, type SmithersError } from '../errors/smithers-error.ts'
import type { AttemptJournal } from './attempt-journal.ts'
import {
  fencedError,
  finishLostError,
  logUnavailableError,
  snapshotTimeoutError,
} from './call-errors.ts'
import type { CallOutcome } from './call-outcome.ts'
import type { CallRecord } from './call-record.ts'
import { depart } from './error-effect.ts'

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
    // An approval serves one execution, which only a recorded start can prove.
    this.unsafe = (sideEffect && !idempotent) || definition.gates?.approval !== undefined
  }

  /** Records that the call was not run, and throws. */
  *refuse(error: unknown): Steps<never> {
    yield* this.recordUnrun({ status: 'error', error, effect: 'none' })
    depart(error)
    throw error
  }

  /** Leaves a row of a call whose tool did not run; without the log, the answer is the same. */
  *recordUnrun(outcome: CallOutcome): Steps<void> {
    const record = this.#record
    try {
      if (!record.stored) {
        yield* record.start({ claim: null, durability: 'relaxed' }, { runs: false })
      }
      this.#journal.leases.release(record.row.callToken)
      yield* record.finish(outcome)
      record.events.end(undefined)
    } catch (error) {
      record.forget()
      this.#journal.policy.onLogError(error)
    }
  }

  /** Finishes the row; returns the error of a call that was taken over meanwhile. */
  *finish(outcome: CallOutcome): Steps<SmithersError | undefined> {
    const { callToken, toolName } = this.#record.row
    const journal = this.#journal
    const thrown = outcome.status === 'error' ? outcome.error : undefined
    if (thrown !== undefined && isSmithersError(thrown) && thrown.fatal === true) {
      journal.raise(thrown)
    }
    journal.leases.release(callToken)
    try {
      if ((yield* this.#record.finish(outcome)) === 'ok') return undefined
      const fenced = fencedError(toolName, callToken)
      if (this.#definition.metadata.sideEffect) {
        journal.raise(fenced)
        return fenced
      }
      journal.policy.onLogError(fenced)
    } catch (error) {
      if (this.unsafe) journal.raise(finishLostError(toolName, callToken, error))
      else journal.policy.onLogError(error)
    }
    return undefined
  }

  /** The log failed before the tool ran. Fails closed where a second run does harm, else the call has no row. */
  withoutLog(error: unknown): void {
    if (!this.unsafe) return this.#journal.policy.onLogError(error)
    this.#record.forget()
    const unavailable = logUnavailableError(this.#definition.metadata.name, error)
    this.#journal.raise(unavailable)
    depart(unavailable)
    throw unavailable
  }

  /** A later attempt has begun, so the log takes no row of this one and the run ends. */
  superseded(error: SmithersError): never {
    this.#record.forget()
    this.#journal.raise(error)
    depart(error)
    throw error
  }

  /** Calls the engine's snapshot hook of a tool with a side effect, whose failure changes nothing, and ends the events. */
  *snapshot(): Steps<void> {
    const { name, sideEffect } = this.#definition.metadata
    const { task, policy } = this.#journal
    let failure: unknown
    if (sideEffect && policy.snapshots) {
      try {
        yield withTimeout(task.durabilitySnapshot(name, this.#toolCallId), {
          timeoutMs: task.timeoutMs,
          timedOut: (timeoutMs) => snapshotTimeoutError(name, timeoutMs),
        })
      } catch (error) {
        failure = error
      }
    }
    this.#record.events.end(failure)
  }
}
