import type { Steps } from '../async/maybe-promise.ts'
import { depart, effectOfError } from '../journal/error-effect.ts'
import { archiveOf } from './budget-of-call.ts'
import type { CallScope } from './call-scope.ts'
import { errorWithNotice } from './error-with-message.ts'
import { errorWithinBudget } from './error-within-budget.ts'
import { inlineOutput } from './inline-output.ts'
import { readableError } from '../json/readable-error.ts'
import { nowOf } from '../log/log-clock.ts'

/** Records the output, and returns what the agent gets of it. */
export function* succeedCall(call: CallScope, output: unknown): Steps<unknown> {
  const { definition, record, finish, reservation } = call
  const recorded = record.describeOutput(output)
  const effect = definition.metadata.sideEffect ? 'applied' : 'none'
  const fenced = yield* finish.finish({ status: 'success', output: recorded, effect })
  if (fenced !== undefined) {
    yield* settleReservation(call, { error: fenced, effect: 'unknown', aborted: true })
    throw fenced
  }
  if (reservation !== undefined) yield* reservation.settle({ output })
  yield* finish.snapshot()
  return yield* shownOutput(call, output)
}

/** Records that the tool failed, and returns what the agent gets of the failure. */
export function* failCall(call: CallScope, thrown: unknown): Steps<unknown> {
  const error = readableError(call.definition.metadata.name, thrown)
  const { definition, finish, options, journal, abort, since } = call
  const { sideEffect } = definition.metadata
  const reasons = [
    options.abortSignal?.reason,
    journal.signal.reason,
    journal.policy.abortSignal?.reason,
  ]
  const stated = effectOfError(error, { since, reasons: [...reasons, abort.reason] })
  const effect = stated ?? (sideEffect ? 'unknown' : 'none')
  yield* finish.finish({ status: 'error', error, effect })
  const aborted = options.abortSignal?.aborted === true || journal.signal.aborted
  yield* settleReservation(call, { error, effect, aborted })
  yield* finish.snapshot()
  const shown = shownError(call, yield* errorWithinBudget(call, error))
  depart(error)
  depart(shown)
  return shown
}

/** What the agent gets of an output. */
export function* shownOutput(call: CallScope, output: unknown): Steps<unknown> {
  const { definition, journal, record } = call
  const { maxInlineOutputBytes: maxBytes, redact, onLogError } = journal.policy
  const store = archiveOf(definition, journal)
  if (maxBytes === undefined || store === undefined) return output
  return yield* inlineOutput(output, {
    maxBytes,
    store,
    row: record.row,
    nowMs: nowOf(journal.task.log),
    redact,
    onLogError,
    responseTool: journal.responseTool,
  })
}

/** A failure as the agent reads it: the note on a repeated call comes first. */
function shownError({ history, options }: CallScope, error: unknown): unknown {
  const note = history.notes.get(options.toolCallId)
  return note === undefined ? error : errorWithNotice(error, note)
}

function* settleReservation(
  { reservation }: CallScope,
  failure: Exclude<
    Parameters<NonNullable<CallScope['reservation']>['settle']>[0],
    { output: unknown }
  >,
): Steps<void> {
  if (reservation !== undefined) yield* reservation.settle(failure)
}
