import { contextOfCall } from '../context/ambient-context.ts'
import { CallAbort, WaitTimeout } from '../async/call-abort.ts'
import { isThenable, type MaybePromise, type Steps } from '../async/maybe-promise.ts'
import type { SmithersError } from '../errors/smithers-error.ts'
import { completeCallOptions, type ToolCallOptions } from '../contract/tool-call-options.ts'
import type { TaskContext, ToolContext } from '../contract/task-context.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { GateReservation } from '../gates/gate-reservation.ts'
import type { CallHistory } from '../history/call-history.ts'
import { type AttemptJournal, journalOf } from '../journal/attempt-journal.ts'
import { abortedError, lateBeginError } from '../journal/call-errors.ts'
import { lostCall } from '../journal/call-trace.ts'
import { CallRecord } from '../journal/call-record.ts'
import { departuresUntilNow } from '../journal/error-effect.ts'
import type { SettleFinalAnswer } from '../journal/final-answer.ts'
import { CallFinish } from '../journal/finish-call.ts'

/** What every phase of one call works with. */
export interface CallScope {
  readonly definition: ToolDefinition
  readonly task: TaskContext
  readonly journal: AttemptJournal
  readonly history: CallHistory
  readonly options: ToolCallOptions
  readonly record: CallRecord
  readonly finish: CallFinish
  readonly abort: CallAbort
  /** Whether the task had its final answer when this call was made. */
  readonly answeredBefore: MaybePromise<boolean>
  /** Says whether this call is the final answer; undefined for a tool that gives none. */
  readonly settleFinalAnswer: SettleFinalAnswer | undefined
  /** Errors that leave a call after this moment are not this call's own. */
  readonly since: number
  /** What the tool's gates reserved for the call. */
  reservation: GateReservation | undefined
}

/** How a call begins: the tool runs, or its output is already known. */
export type BegunCall =
  | { readonly kind: 'run'; readonly args: unknown; readonly context: ToolContext }
  | { readonly kind: 'answer'; readonly output: unknown }

/** Takes the call's seat in its task. Nothing is awaited before, so seats follow the order of calls. */
export function openCall(
  definition: ToolDefinition,
  given: ToolCallOptions | undefined,
): CallScope {
  const complete = given?.toolCallId !== undefined && given.messages !== undefined
  const options = complete ? given : completeCallOptions(given)
  const task = contextOfCall(options)
  const journal = journalOf(task)
  const abort = new CallAbort(() => [options.abortSignal, journal.signal], definition.timeoutMs)
  const record = new CallRecord(definition, journal, options.toolCallId, abort)
  const { finalAnswer } = journal
  const answeredBefore = finalAnswer.given
  journal.pause.begin()
  return {
    definition,
    task,
    journal,
    history: journal.history,
    options,
    record,
    finish: new CallFinish(definition, journal, record, options.toolCallId),
    abort,
    answeredBefore,
    settleFinalAnswer: definition.finalAnswer ? finalAnswer.mayFollow() : undefined,
    since: departuresUntilNow(),
    reservation: undefined,
  }
}

/** The call is over, however it ended. */
export function leaveCall({ settleFinalAnswer, journal, record }: CallScope): void {
  // Only of a call that the log refused before it could end.
  record.trace?.end(() => lostCall(record.row, record.ran, journal.fatal?.code ?? null))
  // Without effect when the call was valid.
  settleFinalAnswer?.(false)
  journal.pause.end()
}

/** Waits for something before the call begins, until the call is aborted or its time is over. */
export function* awaited<Value>(call: CallScope, value: MaybePromise<Value>): Steps<Value> {
  return isThenable(value) ? ((yield call.abort.race(value)) as Value) : value
}

/** Why a call must not begin because of what ended a wait; the error itself when it says so. */
export function waitError(call: CallScope, error: unknown): unknown {
  if (error instanceof WaitTimeout) {
    return lateBeginError(call.definition.metadata.name, error.timeoutMs)
  }
  return stoppedError(call) ?? error
}

/** Why a call must not begin: its run or its agent has ended. */
export function stoppedError(call: CallScope): SmithersError | undefined {
  const { definition, journal, options } = call
  const { closed, fatal, policy } = journal
  const { name } = definition.metadata
  if (closed !== undefined) return closed
  if (fatal !== undefined) return abortedError(name, fatal)
  if (options.abortSignal?.aborted === true) return abortedError(name, options.abortSignal.reason)
  const runSignal = policy.abortSignal
  return runSignal?.aborted === true ? abortedError(name, runSignal.reason) : undefined
}
