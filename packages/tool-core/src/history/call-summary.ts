import type { CallEffect } from '../errors/smithers-error.ts'
import { brief } from '../json/recorded-json.ts'
import { isOrphan } from '../log/orphan.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import type { EffectScope, ToolCallRow } from '../log/tool-call-row.ts'

/** What is remembered of a call; arguments, output and error stay in the log. */
export interface CallSummary {
  readonly callToken: string
  readonly toolName: string
  readonly toolCallId: string | null
  readonly idempotencyKey: string | null
  readonly inputHash: string | null
  readonly occurrence: number
  readonly attempt: number
  readonly seq: number
  readonly startedAtMs: number
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly effectScope: EffectScope
  /** The span that watched it. */
  readonly traceId: string | null
  readonly spanId: string | null
  /** The beginning of the recorded arguments; null for a call without a side effect, which no warning lists. */
  readonly inputHead: string | null
  /**
   * `'past'`: of an attempt that has ended. `'here'`: made in this process. `'beside'`: of an attempt in another process
   * that may still be working.
   */
  origin: 'past' | 'here' | 'beside'
  status: ToolCallRow['status']
  effect: CallEffect | null
  /** The code of its error, else the name. */
  errorCode: string | null
}

/** How an earlier call ended: `'unknown'` when it may have taken effect. */
export type PriorOutcome = 'success' | 'failed' | 'unknown' | 'running'

/** The outcome of an earlier call, as far as the log knows. */
export function outcomeOf(call: CallSummary): PriorOutcome {
  if (call.status === 'success') return 'success'
  if (call.status === 'started') return 'running'
  return call.effect === 'none' ? 'failed' : 'unknown'
}

/** True for a call that runs, waits for approval, or whose worker died in it: its own end was never recorded. */
export function isLeftOpen(call: CallSummary): boolean {
  if (call.status === 'started') return true
  if (call.effect === 'none') return call.errorCode === 'TOOL_APPROVAL_REQUIRED'
  if (call.effect !== 'unknown') return false
  return call.errorCode === null || call.errorCode === 'TOOL_OUTCOME_UNKNOWN'
}

/**
 * A call with the time at which its key was first used: services forget keys after some time, so that one counts. What
 * failed without an effect has not used it.
 */
export function sinceFirst(call: CallSummary, others: readonly CallSummary[]): CallSummary {
  const times = others
    .filter(
      (other) => other.idempotencyKey === call.idempotencyKey && outcomeOf(other) !== 'failed',
    )
    .map((other) => other.startedAtMs)
  return { ...call, startedAtMs: Math.min(call.startedAtMs, ...times) }
}

/** What is remembered of a row. */
export function summarizeRow(row: ToolCallRow, nowMs: number): CallSummary {
  const orphan = isOrphan(row, nowMs)
  const sideEffect = row.sideEffect || isUnfinishedElsewhere(row)
  return {
    callToken: row.callToken,
    toolName: row.toolName,
    toolCallId: row.toolCallId,
    idempotencyKey: row.idempotencyKey,
    inputHash: row.inputHash,
    occurrence: row.occurrence,
    attempt: row.attempt,
    seq: row.seq,
    startedAtMs: row.startedAtMs,
    sideEffect,
    idempotent: row.idempotent && row.sideEffect === sideEffect,
    // An unrecorded scope may be anywhere, so a warning lists the call in full.
    effectScope: row.effectScope ?? 'external',
    traceId: row.traceId,
    spanId: row.spanId,
    inputHead: sideEffect && row.inputJson !== null ? brief(row.inputJson) : null,
    origin: 'past',
    // An orphan is never finished, so it is what recovery would make of it.
    status: orphan ? 'error' : row.status,
    effect: orphan ? 'unknown' : row.effect,
    errorCode: codeOf(row.errorJson),
  }
}

/** What is remembered of a call that begins in this process. */
export function summarizeBegun(row: StartRow, seq: number, nowMs: number): CallSummary {
  const { callToken, toolName, toolCallId, idempotencyKey, inputHash, occurrence } = row
  const { attempt, sideEffect, idempotent, inputJson, traceId, spanId } = row
  return {
    callToken,
    toolName,
    toolCallId,
    idempotencyKey,
    inputHash,
    occurrence,
    attempt,
    seq,
    startedAtMs: nowMs,
    sideEffect,
    idempotent,
    effectScope: row.effectScope ?? 'external',
    traceId,
    spanId,
    inputHead: sideEffect && inputJson !== null ? brief(inputJson) : null,
    origin: 'past',
    status: 'started',
    effect: null,
    errorCode: null,
  }
}

/**
 * True for an unfinished row of a program that knows the documented twelve columns only: it does not say what its tool
 * does, so it may have been a payment. Every row of this package names the process that wrote it.
 */
function isUnfinishedElsewhere(row: ToolCallRow): boolean {
  const { finishedAtMs, ownerId, idempotencyKey, toolCallId } = row
  return finishedAtMs === null && (ownerId ?? idempotencyKey ?? toolCallId) === null
}

/** The code of a recorded error, else its name. */
export function codeOf(errorJson: string | null): string | null {
  if (errorJson === null) return null
  const { code, name } = JSON.parse(errorJson) as {
    readonly code?: unknown
    readonly name?: unknown
  }
  if (typeof code === 'string') return code
  return typeof name === 'string' ? name : 'Error'
}
