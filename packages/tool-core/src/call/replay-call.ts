import { repetitionNote, unreusableNote } from '../history/repetition-note.ts'
import {
  blockedError,
  invalidVerificationError,
  unverifiedError,
  verifyTimeoutError,
} from '../journal/call-errors.ts'
import { runWithinTask } from '../context/ambient-context.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { awaited, type BegunCall, type CallScope, stoppedError, waitError } from './call-scope.ts'
import { type CallSummary, outcomeOf } from '../history/call-summary.ts'
import { drive, type Steps } from '../async/maybe-promise.ts'
import { readRecordedJson } from '../json/read-recorded-json.ts'
import type { RecordedJson } from '../json/recorded-json.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { OnRetry, PriorCall, Verification } from '../contract/tool-definition.ts'

/** Answers with the recorded output of an earlier success; undefined when the record is not the whole output. */
export function* answerFromRecord(
  call: CallScope,
  prior: CallSummary,
): Steps<BegunCall | undefined> {
  const recorded = yield* outputOf(call, prior)
  if (!recorded.exact) return undefined
  const output = readRecordedJson(recorded.json)
  const replay = { status: 'success', effect: 'none', replayOf: prior.callToken } as const
  yield* call.finish.recordUnrun({ ...replay, output: recorded })
  return { kind: 'answer', output }
}

/** Refuses a call because an earlier one may stand for it. */
export function* refuseRepetition(call: CallScope, prior: CallSummary): Steps<never> {
  const { toolName, idempotencyKey, inputJson } = call.record.row
  const { json: outputJson } = yield* outputOf(call, prior)
  const error = blockedError(toolName, idempotencyKey ?? '', prior, { inputJson, outputJson })
  return yield* call.finish.refuse(error)
}

/** Asks the tool what became of an earlier call. What did take effect is answered with, what did not runs. */
export async function verifyPrior(
  call: CallScope,
  prior: CallSummary,
  running: Extract<BegunCall, { kind: 'run' }>,
  onRetry: OnRetry,
): Promise<BegunCall> {
  const { record, finish } = call
  let answer: Verification<unknown>
  try {
    answer = await ask(call, prior, running)
  } catch (error) {
    return drive(finish.refuse(stoppedError(call) ?? unverifiedError(prior.toolName, error)))
  }
  const said = { true: 'happened', false: 'did not happen', unknown: 'unknown' } as const
  record.trace?.event('verify', { answer: said[`${answer.happened}`] })
  if (answer.happened === true) {
    const { output } = answer
    const replay = { status: 'success', effect: 'none', replayOf: prior.callToken } as const
    const recorded = record.describeOutput(output)
    const fenced = await drive(finish.finish({ ...replay, output: recorded }))
    if (fenced !== undefined) throw fenced
    return { kind: 'answer', output }
  }
  if (answer.happened === false) return running
  if (onRetry === 'block') return drive(refuseRepetition(call, prior))
  noteRepetition(call, prior)
  return running
}

/** Waits for the tool's answer, as long as the tool itself may take. */
async function ask(
  call: CallScope,
  prior: CallSummary,
  { args, context }: Extract<BegunCall, { kind: 'run' }>,
): Promise<Verification<unknown>> {
  const { definition, task, abort } = call
  const { verify, timeoutMs = task.timeoutMs } = definition
  const { signal } = abort
  const asked = (async () => {
    const found = await priorCall(call, prior)
    return runWithinTask(task, () => verify?.(args, found, context))
  })()
  let timeout: unknown
  const answer: unknown = await withTimeout(asked, {
    timeoutMs,
    timedOut: () => (timeout = verifyTimeoutError(prior.toolName, timeoutMs)),
    signal,
  }).catch((error: unknown) => {
    // The result is no longer awaited, so tell the tool to stop.
    if (error === timeout) abort.abort(timeout)
    throw error
  })
  if (isVerification(answer)) return answer
  throw invalidVerificationError(prior.toolName)
}

// Anything else, such as a forgotten return, must not pass for "it did not happen".
function isVerification(value: unknown): value is Verification<unknown> {
  if (typeof value !== 'object' || value === null || !('happened' in value)) return false
  const { happened } = value
  if (happened === true) return 'output' in value
  return happened === false || happened === 'unknown'
}

/** Keeps for the result what the agent must know of the call that this one repeats, unless it has been told. */
export function noteRepetition(
  { task, history, record, options }: CallScope,
  repeated: CallSummary,
): void {
  if (repeated.attempt === task.attempt) return
  const { toolName, idempotencyKey, inputJson } = record.row
  if (history.warned && repeated.idempotencyKey === idempotencyKey) return
  const call = { toolName, idempotencyKey: idempotencyKey ?? '', inputJson }
  const note = repetitionNote(repeated, call)
  history.notes.set({ toolCallId: options.toolCallId, toolName }, note)
}

/** Keeps for the result that the call ran, although an earlier one should have answered it: no warning said so. */
export function noteUnreusable(
  { history, record, options }: CallScope,
  repeated: CallSummary,
): void {
  const { toolName, idempotencyKey } = record.row
  const note = unreusableNote(repeated, { toolName, idempotencyKey: idempotencyKey ?? '' })
  history.notes.set({ toolCallId: options.toolCallId, toolName }, note)
}

function* outputOf(call: CallScope, prior: CallSummary): Steps<RecordedJson> {
  let row: ToolCallRow | undefined
  try {
    const rows = call.journal.log.list({ callToken: prior.callToken, limit: 1 })
    row = (yield* awaited(call, rows))[0]
  } catch (error) {
    return yield* call.finish.refuse(waitError(call, error))
  }
  return { json: row?.outputJson ?? null, exact: row?.outputExact === true }
}

/** Arguments and error are read from the log: a task may have made many calls, with much to remember. */
async function priorCall(call: CallScope, prior: CallSummary): Promise<PriorCall> {
  const { idempotencyKey, attempt, startedAtMs } = prior
  const outcome = outcomeOf(prior) === 'success' ? 'success' : 'unknown'
  const [row] = await call.journal.log.list({ callToken: prior.callToken, limit: 1 })
  const { inputJson = null, errorJson = null } = row ?? {}
  return { idempotencyKey, attempt, startedAtMs, outcome, inputJson, errorJson }
}
