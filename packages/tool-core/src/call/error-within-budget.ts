import type { Steps } from '../async/maybe-promise.ts'
import { budgetOfError } from './budget-of-call.ts'
import { nowOf } from '../log/log-clock.ts'
import type { CallScope } from './call-scope.ts'
import { errorWithMessage } from './error-with-message.ts'
import { fitBudget } from './fit-budget.ts'
import { archiveText } from './inline-output.ts'
import { adviceAtCut, callThatReads } from './reader-of-rest.ts'

/**
 * A failure as the agent reads it: its message within the run's `maxInlineOutputBytes`, or else within the tool's budget.
 * The log has all of it.
 */
export function* errorWithinBudget(call: CallScope, error: unknown): Steps<unknown> {
  const { definition } = call
  const budget = budgetOfError(definition, call.journal)
  if (budget === undefined || !(error instanceof Error)) return error
  const cut = fitBudget(error.message, budget, () => adviceAtCut(definition, undefined))
  if (cut.shownBytes === undefined) return error
  const name = call.journal.responseTool
  const isKept = typeof name === 'string' && (yield* archiveMessage(call, error))
  if (!isKept) return errorWithMessage(error, cut.text)
  const { callToken } = call.record.row
  const { text } = fitBudget(error.message, budget, (offset) =>
    callThatReads(name, callToken, offset),
  )
  return errorWithMessage(error, text)
}

/** Keeps the whole message for the agent, unless the log may not see it. */
function* archiveMessage({ journal, record }: CallScope, error: Error): Steps<boolean> {
  const { state, capabilities } = journal.log
  const { redact, onLogError } = journal.policy
  if (state === undefined || capabilities.state !== true) return false
  if ('logMessage' in error && typeof error.logMessage === 'string') return false
  const { row } = record
  const nowMs = nowOf(journal.task.log)
  return yield* archiveText(redact.hideIn(error.message), { store: state, row, nowMs, onLogError })
}
