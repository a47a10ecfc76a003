import { codeOfHead } from '@smithers/tool-core/log'
import type { ApprovalRow, ToolCallRow } from '@smithers/tool-core/log'
import type { CallSegment, CallSummary } from '../api/calls.ts'
import { oneLine } from './one-line.ts'
import { outcomeOf } from './outcome.ts'

/** Characters of arguments, output and error that a line of the timeline needs. */
export const summarizedContents = 400

/** What is known beside a row. */
export interface CallSurroundings {
  readonly nowMs: number
  /** The approval that the call ran with, waits for or was refused by. */
  readonly approval?: ApprovalRow | undefined
  /** The row whose output the call returned. */
  readonly original?: ToolCallRow | undefined
}

/** One line of the timeline. The contents of the row may be cut. */
export function summarize(row: ToolCallRow, surroundings: CallSurroundings): CallSummary {
  return {
    callToken: row.callToken,
    runId: row.runId,
    nodeId: row.nodeId,
    iteration: row.iteration,
    attempt: row.attempt,
    seq: row.seq,
    toolName: row.toolName,
    summary: oneLine(row.inputJson),
    outcome: outcomeOf(row, surroundings.nowMs),
    effect: row.effect,
    sideEffect: row.sideEffect,
    errorCode: row.errorJson === null ? null : (codeOfHead(row.errorJson) ?? nameOf(row.errorJson)),
    startedAtMs: row.startedAtMs,
    finishedAtMs: row.finishedAtMs,
    segments: segmentsOf(row, surroundings),
  }
}

function nameOf(errorJson: string): string {
  return /^\{"name":"([^"\\]{1,100})"/.exec(errorJson)?.[1] ?? 'Error'
}

function segmentsOf(row: ToolCallRow, { approval, original }: CallSurroundings): CallSegment[] {
  const run: CallSegment = { kind: 'run', fromMs: row.startedAtMs, toMs: row.finishedAtMs }
  return [...approvalWait(row, approval), ...claimWait(row, original), run]
}

function approvalWait(row: ToolCallRow, approval: ApprovalRow | undefined): CallSegment[] {
  if (approval === undefined) return []
  const { requestedAtMs, decidedAtMs } = approval
  // A call that was turned away waits on after its row has ended; one that ran waited before its row began.
  const waitsOn = row.errorJson !== null && codeOfHead(row.errorJson) === 'TOOL_APPROVAL_REQUIRED'
  const toMs = waitsOn ? decidedAtMs : Math.min(decidedAtMs ?? row.startedAtMs, row.startedAtMs)
  if (toMs !== null && toMs <= requestedAtMs) return []
  return [{ kind: 'approval', fromMs: requestedAtMs, toMs }]
}

/**
 * The log does not say when a call began to wait for an equal one, so only a wait is shown that the times prove: the row
 * began just when a call that ran beside it ended.
 */
function claimWait(row: ToolCallRow, original: ToolCallRow | undefined): CallSegment[] {
  const endedAtMs = original?.finishedAtMs ?? null
  if (original === undefined || endedAtMs === null || row.ownerId === original.ownerId) return []
  const lateMs = row.startedAtMs - endedAtMs
  if (lateMs < 0 || lateMs > longestPollMs) return []
  return [{ kind: 'claim', fromMs: original.startedAtMs, toMs: row.startedAtMs }]
}

/** A call that waits for another looks at least this often. Milliseconds. */
const longestPollMs = 400
