import type { MaybePromise } from '../async/maybe-promise.ts'
import { inTime } from '../async/with-timeout.ts'
import { isSmithersError, SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallLog } from './tool-call-log.ts'

/** Marks a log whose every method settles within a bound of its own. A copy of the log is not marked. */
export function markPrompt<Log extends ToolCallLog>(log: Log): Log {
  return Object.defineProperty(log, promptKey, { value: true })
}

const promptKey: unique symbol = Symbol.for('smithers.log.prompt') as never

const boundedLogs = new WeakMap<ToolCallLog, Map<number, ToolCallLog>>()

/**
 * A view of a log that gives up on an answer after some time: a log behind a network may never answer, and a call must
 * not wait for ever. What was asked for may still happen.
 *
 * @param timeoutMs Milliseconds for each answer.
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` from its methods when the log does not answer in time.
 */
export function boundedLog(log: ToolCallLog, timeoutMs: number): ToolCallLog {
  if ((log as { readonly [promptKey]?: boolean })[promptKey] === true) return log
  const views = boundedLogs.get(log) ?? new Map<number, ToolCallLog>()
  boundedLogs.set(log, views)
  let view = views.get(timeoutMs)
  if (view === undefined) views.set(timeoutMs, (view = viewOf(log, timeoutMs)))
  return view
}

function viewOf(log: ToolCallLog, timeoutMs: number): ToolCallLog {
  const { name, approvals, state, runs } = log
  const bounded = <Part extends object>(part: Part): Part => boundedMethods(part, name, timeoutMs)
  return Object.assign(Object.create(bounded(log)) as ToolCallLog, {
    ...(approvals && { approvals: bounded(approvals) }),
    ...(state && { state: bounded(state) }),
    ...(runs && { runs: bounded(runs) }),
  })
}

type Method = (...args: unknown[]) => MaybePromise<unknown>

/** An object with the same methods, however the part has them: as its own properties or from a class. */
function boundedMethods<Part extends object>(part: Part, name: string, timeoutMs: number): Part {
  return new Proxy(part, {
    get(target, property) {
      const method: unknown = Reflect.get(target, property)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        const answer = (method as Method).apply(target, args)
        return inTime(answer, timeoutMs, () => noAnswer(name, timeoutMs))
      }
    },
  })
}

/** True for the error of a log that did not answer: asking again would take as long. */
export function isNoAnswer(error: unknown): boolean {
  return isSmithersError(error) && error.details['reason'] === 'no-answer'
}

/** The log took too long. */
export function noAnswer(name: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `The tool-call log "${name}" did not answer within ${timeoutMs} ms (logTimeoutMs). Check its storage and its connection, then try again.`,
    { details: { log: name, timeoutMs, reason: 'no-answer' } },
  )
}
