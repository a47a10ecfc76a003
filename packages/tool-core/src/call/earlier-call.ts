import type { MaybePromise } from '../log/tool-call-log.ts'
import { repetitionNote } from '../repetition-note.ts'
import { blockedError, unverifiedError } from './call-errors.ts'
import { type BegunCall, type CallParts, withinTask } from './call-parts.ts'
import { type KnownCall, outcomeOf } from './known-calls.ts'
import { chain } from './maybe-promise.ts'
import { isExactRecord, readRecordedJson } from './read-recorded-json.ts'
import type { OnRetry, PriorCall, Verdict } from './tool-definition.ts'

/** Answers with the recorded output of an earlier success; undefined when the record is not the whole output. */
export function answerFromRecord(
  call: CallParts,
  prior: KnownCall,
): MaybePromise<BegunCall | undefined> {
  const { definition, ending } = call
  return chain(outputOf(call, prior), (outputJson) => {
    if (definition.logOutput !== undefined || !isExactRecord(outputJson)) return undefined
    const output = readRecordedJson(outputJson)
    const replay = {
      status: 'success',
      outputJson,
      effect: 'none',
      replayOf: prior.callToken,
    } as const
    return chain(ending.recordUnrun(replay), () => ({ kind: 'answer' as const, output }))
  })
}

/** Refuses a call because an earlier one may stand for it. */
export function refuseRepetition(call: CallParts, prior: KnownCall): MaybePromise<never> {
  const { toolName, idempotencyKey, inputJson } = call.record.row
  return chain(outputOf(call, prior), (outputJson) =>
    call.ending.refuse(
      blockedError(toolName, idempotencyKey ?? '', prior, { inputJson, outputJson }),
    ),
  )
}

/** Asks the tool what became of an earlier call. What did take effect is answered with, what did not runs. */
export async function verifyEarlier(
  call: CallParts,
  prior: KnownCall,
  running: Extract<BegunCall, { kind: 'run' }>,
  onRetry: OnRetry,
): Promise<BegunCall> {
  const { definition, task, record, ending } = call
  let verdict: Verdict<unknown> | undefined
  try {
    verdict = await withinTask(task, () =>
      definition.verify?.(running.args, priorCall(prior), running.context),
    )
  } catch (error) {
    return ending.refuse(unverifiedError(prior.toolName, error))
  }
  if (verdict?.happened === true) {
    const { output } = verdict
    const outputJson = record.describeOutput(output)
    const replay = { status: 'success', outputJson, effect: 'none' } as const
    const fenced = await ending.finish({ ...replay, replayOf: prior.callToken })
    if (fenced !== undefined) throw fenced
    return { kind: 'answer', output }
  }
  return verdict?.happened === 'unknown' && onRetry === 'block'
    ? refuseRepetition(call, prior)
    : running
}

/** Keeps for the result what the agent must know of the call that this one repeats, unless it has been told. */
export function noteRepetition(
  { task, journal, record, options }: CallParts,
  repeated: KnownCall,
): void {
  const { known } = journal
  if (repeated.attempt === task.attempt) return
  const { idempotencyKey, inputJson } = record.row
  if (known.warned && repeated.idempotencyKey === idempotencyKey) return
  const note = repetitionNote(repeated, { idempotencyKey: idempotencyKey ?? '', inputJson })
  known.notes.set(options.toolCallId, note)
}

function outputOf({ task }: CallParts, prior: KnownCall): MaybePromise<string | null> {
  const rows = task.log.list({ callToken: prior.callToken, limit: 1 })
  return chain(rows, ([row]) => row?.outputJson ?? null)
}

function priorCall(prior: KnownCall): PriorCall {
  const { idempotencyKey, attempt, startedAtMs, inputJson, errorJson } = prior
  const outcome = outcomeOf(prior) === 'success' ? 'success' : 'unknown'
  return { idempotencyKey, attempt, startedAtMs, outcome, inputJson, errorJson }
}
