import { codeOfHead } from '@smithers/tool-core/log'
import type { AttemptRow, ToolCallRow } from '@smithers/tool-core/log'
import type { AttemptEnd, CallGroup, CallOutcome } from '../api/calls.ts'
import { outcomeOf } from './outcome.ts'
import { readableError } from './readable-error.ts'

/** A group with its rows in order. */
export interface GroupedCalls extends CallGroup {
  readonly rows: readonly ToolCallRow[]
}

/** The calls of one attempt of one task in one iteration, in order. */
export interface OrderedGroup {
  readonly id: string
  readonly rows: readonly ToolCallRow[]
  readonly startedAtMs: number
}

/** The calls of a run by task, iteration and attempt, in the order in which the groups began. */
export function orderCalls(rows: Iterable<ToolCallRow>): OrderedGroup[] {
  const byGroup = new Map<string, ToolCallRow[]>()
  for (const row of rows) {
    const id = groupId(row)
    const group = byGroup.get(id)
    if (group === undefined) byGroup.set(id, [row])
    else group.push(row)
  }
  return [...byGroup]
    .map(([id, group]) => ({
      id,
      rows: group.toSorted((a, b) => a.seq - b.seq),
      startedAtMs: earliest(group),
    }))
    .toSorted((a, b) => a.startedAtMs - b.startedAtMs || compare(a.id, b.id))
}

/** What is known of each group now. */
export function groupCalls(
  ordered: readonly OrderedGroup[],
  attempts: readonly AttemptRow[],
  nowMs: number,
): GroupedCalls[] {
  const recorded = new Map(attempts.map((attempt) => [groupId(attempt), attempt]))
  const lastAttempt = lastAttempts(ordered)
  let first = 0
  return ordered.map(({ id, rows: group, startedAtMs }) => {
    const [{ nodeId, iteration, attempt }] = group as [ToolCallRow]
    const attemptRow = recorded.get(id)
    const outcomes = group.map((row) => outcomeOf(row, nowMs))
    const isLast = lastAttempt.get(taskId({ nodeId, iteration })) === attempt
    const end = endOf(group, outcomes, attemptRow, isLast)
    const at = first
    first += group.length
    return {
      id,
      nodeId,
      iteration,
      attempt,
      first: at,
      count: group.length,
      startedAtMs: Math.min(startedAtMs, attemptRow?.startedAtMs ?? Infinity),
      finishedAtMs: end.kind === 'running' ? null : (attemptRow?.finishedAtMs ?? latest(group)),
      end,
      counts: countOf(outcomes),
      rows: group,
    }
  })
}

function endOf(
  rows: readonly ToolCallRow[],
  outcomes: readonly CallOutcome[],
  recorded: AttemptRow | undefined,
  isLast: boolean,
): AttemptEnd {
  const lost = rows[outcomes.indexOf('unknown')]
  const error = recorded?.errorJson ?? null
  const code = codeOfHead(error)
  if (lost !== undefined && recorded?.status !== 'finished' && recorded?.status !== 'failed') {
    const text = `The process ended in call ${lost.seq} (${lost.toolName}), before the end of the call was recorded.`
    return { kind: 'lost', text, code: 'TOOL_OUTCOME_UNKNOWN' }
  }
  switch (recorded?.status) {
    case 'finished':
      return { kind: 'finished', text: 'The task finished.', code: null }
    case 'failed':
      return { kind: 'failed', text: readableError(error)?.message ?? 'The task failed.', code }
    case 'interrupted':
      return (
        waitingEnd(rows, outcomes) ?? {
          kind: 'interrupted',
          text: 'The process that ran the task ended, or gave the run up.',
          code,
        }
      )
    case 'running':
      return { kind: 'running', text: 'The task runs.', code: null }
    default:
      return unrecordedEnd(rows, outcomes, isLast)
  }
}

function unrecordedEnd(
  rows: readonly ToolCallRow[],
  outcomes: readonly CallOutcome[],
  isLast: boolean,
): AttemptEnd {
  if (outcomes.includes('running')) return { kind: 'running', text: 'A call runs.', code: null }
  const waiting = waitingEnd(rows, outcomes)
  if (waiting !== undefined) return waiting
  const text = isLast
    ? 'Its last call has ended. The log does not say whether more will follow.'
    : 'A later attempt began. The log does not say why this one ended.'
  return { kind: 'unrecorded', text, code: null }
}

function waitingEnd(
  rows: readonly ToolCallRow[],
  outcomes: readonly CallOutcome[],
): AttemptEnd | undefined {
  const index = outcomes.lastIndexOf('waiting')
  const row = rows[index]
  // A call after it has run: the wait did not end the attempt.
  if (row === undefined || outcomes.slice(index + 1).includes('ok')) return undefined
  return {
    kind: 'waiting',
    text: `Call ${row.seq} (${row.toolName}) waits for approval.`,
    code: 'TOOL_APPROVAL_REQUIRED',
  }
}

function countOf(outcomes: readonly CallOutcome[]): Partial<Record<CallOutcome, number>> {
  const counts: Partial<Record<CallOutcome, number>> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

function lastAttempts(ordered: readonly OrderedGroup[]): Map<string, number> {
  const last = new Map<string, number>()
  for (const { rows } of ordered) {
    const [row] = rows as [ToolCallRow]
    last.set(taskId(row), Math.max(last.get(taskId(row)) ?? 0, row.attempt))
  }
  return last
}

function earliest(rows: readonly ToolCallRow[]): number {
  return rows.reduce((least, { startedAtMs }) => Math.min(least, startedAtMs), Infinity)
}

function latest(rows: readonly ToolCallRow[]): number {
  return rows.reduce((most, row) => Math.max(most, row.finishedAtMs ?? row.startedAtMs), -Infinity)
}

function taskId({ nodeId, iteration }: Pick<ToolCallRow, 'nodeId' | 'iteration'>): string {
  return `${iteration} ${nodeId}`
}

function groupId({
  nodeId,
  iteration,
  attempt,
}: Pick<ToolCallRow, 'nodeId' | 'iteration' | 'attempt'>): string {
  return `${iteration} ${attempt} ${nodeId}`
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
