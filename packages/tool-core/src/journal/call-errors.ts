import { brief } from '../json/recorded-json.ts'
import { retryWarningMarker } from '../history/retry-warning.ts'
import { isSmithersError, SmithersError } from '../errors/smithers-error.ts'
import { type CallSummary, outcomeOf } from '../history/call-summary.ts'
import type { TaskAttempt } from '../log/tool-call-log.ts'

/** The call is refused because an earlier one may stand for it. */
export function blockedError(
  toolName: string,
  idempotencyKey: string,
  prior: CallSummary,
  detail: { readonly inputJson: string | null; readonly outputJson: string | null },
): SmithersError {
  const outcome = outcomeOf(prior)
  const reworded = prior.idempotencyKey !== idempotencyKey
  const lines = [
    `${retryWarningMarker} Tool "${toolName}" was not run.`,
    reworded
      ? `An earlier attempt made a call that this one may repeat in other words, and this attempt has not repeated it.`
      : `This call was already made.`,
    `It started at ${new Date(prior.startedAtMs).toISOString()} and ${outcomeTexts[outcome]}.`,
    ...(reworded
      ? [
          `Its arguments were ${prior.inputHead ?? 'not recorded'}; these are ${brief(detail.inputJson)}.`,
        ]
      : []),
    ...(detail.outputJson === null ? [] : [`Its recorded output: ${brief(detail.outputJson)}.`]),
    `Check the outside state. If the call must run, its key has to be allowed first: ${idempotencyKey}.`,
  ]
  return new SmithersError('TOOL_CALL_BLOCKED', lines.join(' '), {
    details: {
      toolName,
      idempotencyKey,
      priorKey: prior.idempotencyKey,
      priorOutcome: outcome,
      priorAttempt: prior.attempt,
      priorStartedAtMs: prior.startedAtMs,
    },
    effect: 'none',
  })
}

const outcomeTexts = {
  success: 'succeeded',
  failed: 'failed without an effect',
  unknown: 'its outcome is unknown: it may have taken effect',
  running: 'is still running',
} as const

/** The tool could not find out whether an earlier call took effect. */
export function unverifiedError(toolName: string, cause: unknown): SmithersError {
  return new SmithersError(
    'TOOL_OUTCOME_UNKNOWN',
    `Tool "${toolName}" was not run: an earlier call may have taken effect, and finding out failed: ${messageOf(cause)}`,
    { details: { toolName }, cause, effect: 'none' },
  )
}

/** The tool took too long to find out whether an earlier call took effect. */
export function verifyTimeoutError(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `verify of tool "${toolName}" took longer than ${timeoutMs} ms.`,
    { details: { toolName, timeoutMs }, effect: 'none' },
  )
}

export function invalidVerificationError(toolName: string): SmithersError {
  return new SmithersError(
    'INVALID_TOOL',
    `verify of tool "${toolName}" must return { happened: true, output }, { happened: false } or { happened: 'unknown' }.`,
    { details: { toolName }, effect: 'none' },
  )
}

/** The engine's hook took too long. The call that it followed is not touched by that. */
export function snapshotTimeoutError(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `durabilitySnapshot after tool "${toolName}" took longer than ${timeoutMs} ms. The call went on without it.`,
    { details: { toolName, timeoutMs } },
  )
}

/** Another call holds the key and did not finish in time. */
export function inProgressError(toolName: string, waitedMs: number, key: string): SmithersError {
  return new SmithersError(
    'TOOL_CALL_IN_PROGRESS',
    `Tool "${toolName}" is already running with the same idempotency key; waited ${waitedMs} ms for it. Do not repeat the call; wait for its result.`,
    { details: { toolName, idempotencyKey: key, waitedMs }, effect: 'none' },
  )
}

/** The start of a call could not be recorded, and running it unrecorded is not safe. */
export function logUnavailableError(toolName: string, cause: unknown): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `Tool "${toolName}" was not run, because its start could not be recorded: ${messageOf(cause)}`,
    { details: { toolName }, cause, effect: 'none' },
  )
}

/** The effect happened and its record is lost. Never shown to a model: to it, the call succeeded. */
export function finishLostError(
  toolName: string,
  callToken: string,
  cause: unknown,
): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `Tool "${toolName}" ran, but how it ended could not be recorded: ${messageOf(cause)} Its row stays "started" until it is recovered.`,
    { details: { toolName, callToken }, cause, effect: 'applied' },
  )
}

/** Another worker took the call over while it ran. */
export function fencedError(toolName: string, callToken: string): SmithersError {
  return new SmithersError(
    'TOOL_CALL_FENCED',
    `Tool "${toolName}" was taken over by another worker while it ran here, so its result was discarded. Stop this worker's attempt.`,
    { details: { toolName, callToken }, effect: 'unknown' },
  )
}

/** A later attempt of the task has begun, so this one must do nothing more. */
export function supersededError({ runId, nodeId, iteration, attempt }: TaskAttempt): SmithersError {
  return new SmithersError(
    'TOOL_CALL_FENCED',
    `The call was not run: attempt ${attempt} of task "${nodeId}" of run "${runId}" was given up, and a later attempt has begun. Stop this worker's attempt.`,
    { details: { runId, nodeId, iteration, attempt }, effect: 'none' },
  )
}

/** The log took longer than a lease to store the start, and another worker has taken the call for lost, or may have. */
export function lateStartError(toolName: string, callToken: string): SmithersError {
  return new SmithersError(
    'TOOL_CALL_FENCED',
    `Tool "${toolName}" was not run: its start was recorded too late, when another worker could already have taken the call over. Try again.`,
    { details: { toolName, callToken }, effect: 'none' },
  )
}

/** True for the error of {@link supersededError}: nothing of the call has happened. */
export function isSuperseded(error: unknown): error is SmithersError {
  return isSmithersError(error) && error.code === 'TOOL_CALL_FENCED' && error.effect === 'none'
}

/** The tool's own time limit has passed. */
export function timeoutError(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `Tool "${toolName}" took longer than ${timeoutMs} ms and was aborted. Whether it took effect is unknown.`,
    { details: { toolName, timeoutMs } },
  )
}

/** The time of a call was over before it could begin. */
export function lateBeginError(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `Tool "${toolName}" was not run: the log, an approval or a check took longer than its ${timeoutMs} ms (timeoutMs). Try again.`,
    { details: { toolName, timeoutMs, waited: true }, effect: 'none' },
  )
}

/** The time of a call was over while it waited for an equal one. */
export function waitTimeoutError(toolName: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `Tool "${toolName}" was not run: an equal call is running, and had no result after ${timeoutMs} ms.`,
    { details: { toolName, timeoutMs, waited: true }, effect: 'none' },
  )
}

/** The agent or the run had ended before the call began. */
export function abortedError(toolName: string, cause: unknown): SmithersError {
  return new SmithersError(
    'TOOL_ABORTED',
    `Tool "${toolName}" was not run, because the run was stopped${cause instanceof Error ? `: ${cause.message}` : '.'}`,
    { details: { toolName }, cause, effect: 'none' },
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
