import { nowOf } from '@smithers/tool-core/log'
import type {
  ApprovalRow,
  ApprovalStore,
  RunStore,
  ToolCallLog,
  ToolCallRow,
} from '@smithers/tool-core/log'
import { type CallSurroundings, summarizedContents, summarize } from './call-summary.ts'
import { RunCalls } from './run-calls.ts'
import type { CallSummary } from '../api/calls.ts'

/** Where the viewer reads, and what it remembers between two requests. */
export class LogReader {
  readonly log: ToolCallLog
  readonly runs: RunStore | undefined
  readonly approvals: ApprovalStore | undefined
  readonly #calls = new Map<string, RunCalls>()

  constructor(log: ToolCallLog, store: RunStore | undefined) {
    this.log = log
    this.runs = store ?? log.runs
    this.approvals = log.approvals
  }

  nowMs(): number {
    return nowOf(this.log)
  }

  /** Differs after any change of the log; where the log cannot say, after any change of its newest calls. */
  async version(): Promise<string> {
    if (this.log.version !== undefined) return await this.log.version()
    const rows = await this.log.list({ order: 'descending', limit: 200, contentsUpTo: 1 })
    const pending = await this.approvals?.list({ status: 'pending' })
    return [
      ...rows.map(({ callToken, finishedAtMs }) => `${callToken} ${finishedAtMs}`),
      ...(pending ?? []).map(({ id }) => id),
    ].join(' ')
  }

  /** The newest calls of a run, their contents cut. A version has one map. */
  async callsOf(runId: string, version: string): Promise<ReadonlyMap<string, ToolCallRow>> {
    const known = this.#calls.get(runId) ?? new RunCalls(this.log, runId, mostCalls)
    // The runs that were looked at last stay.
    this.#calls.delete(runId)
    this.#calls.set(runId, known)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > mostRuns && oldest !== undefined) this.#calls.delete(oldest)
    return await known.at(version)
  }

  async approvalsOf(runId: string): Promise<ApprovalRow[]> {
    return (await this.approvals?.list({ runId, limit: Infinity })) ?? []
  }

  async row(callToken: string): Promise<ToolCallRow | undefined> {
    const [row] = await this.log.list({ callToken, limit: 1 })
    return row
  }

  /** Lines for rows of any runs. */
  async summaries(rows: readonly ToolCallRow[]): Promise<CallSummary[]> {
    const nowMs = this.nowMs()
    const approvals = new Map<string, readonly ApprovalRow[]>()
    for (const { runId } of rows) {
      if (!approvals.has(runId)) approvals.set(runId, await this.approvalsOf(runId))
    }
    const originals = new Map<string, ToolCallRow>()
    for (const { replayOf } of rows) {
      if (replayOf === null || originals.has(replayOf)) continue
      const query = { callToken: replayOf, limit: 1, contentsUpTo: summarizedContents }
      const [original] = await this.log.list(query)
      if (original !== undefined) originals.set(replayOf, original)
    }
    return rows.map((row) =>
      summarize(row, {
        nowMs,
        approval: approvalOf(row, approvals.get(row.runId) ?? []),
        original: row.replayOf === null ? undefined : originals.get(row.replayOf),
      } satisfies CallSurroundings),
    )
  }
}

/** The approval that a call ran with, waits for or was refused by. */
export function approvalOf(
  row: ToolCallRow,
  approvals: readonly ApprovalRow[],
): ApprovalRow | undefined {
  if (typeof row.approvalId === 'string') return approvals.find(({ id }) => id === row.approvalId)
  // Only a call that was turned away names its approval by its own id alone.
  const turnedAway = /^\{"name":"[^"]*","code":"TOOL_APPROVAL_(?:REQUIRED|REJECTED)"/
  if (row.errorJson === null || !turnedAway.test(row.errorJson)) return undefined
  return approvals.find(
    ({ toolCallId, toolName, inputHash }) =>
      toolName === row.toolName && (toolCallId === row.toolCallId || inputHash === row.inputHash),
  )
}

/** Calls of one run that are kept in memory, about 1 KB each. */
const mostCalls = 50_000

const mostRuns = 4
