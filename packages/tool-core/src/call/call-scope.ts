import { getToolContext, runWithToolContext } from '../context/ambient-context.ts'
import type { SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { CallAbort } from '../context/call-abort.ts'
import type { CallFinish } from '../journal/finish-call.ts'
import { abortedError } from '../journal/call-errors.ts'
import type { CallRecord } from '../journal/call-record.ts'
import type { AttemptJournal } from '../journal/attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/** What every phase of one call works with. */
export interface CallScope {
  readonly definition: ToolDefinition
  readonly task: TaskContext
  readonly journal: AttemptJournal
  readonly options: ToolCallOptions
  readonly record: CallRecord
  readonly ending: CallFinish
  readonly abort: CallAbort
}

/** What a call came to before its tool ran: it runs, or its output is already known. */
export type BegunCall =
  | { readonly kind: 'run'; readonly args: unknown; readonly context: ToolContext }
  | { readonly kind: 'answer'; readonly output: unknown }

/** Makes a task ambient, so that tools called within belong to it. */
export function withinTask<Result>(task: TaskContext, fn: () => Result): Result {
  return getToolContext() === task ? fn() : runWithToolContext(task, fn)
}

/** Why a call must not begin any more: its run or its agent has ended. */
export function stoppedError({
  definition,
  journal,
  options,
}: CallScope): SmithersError | undefined {
  const { fatal, policy } = journal
  const { name } = definition.metadata
  if (fatal !== undefined) return abortedError(name, fatal)
  const aborted = [options.abortSignal, policy.abortSignal].find((each) => each?.aborted)
  return aborted === undefined ? undefined : abortedError(name, aborted.reason)
}
