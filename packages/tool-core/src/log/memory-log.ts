import type { ApprovalStore } from './approval-store.ts'
import { createMemoryApprovals } from './memory-approvals.ts'
import { createMemoryRunState } from './memory-run-state.ts'
import { createMemoryRuns } from './memory-run-store.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { RunStateStore } from './run-state-store.ts'
import type { RunStore } from './run-store.ts'
import { markPrompt } from './bounded-log.ts'
import { selectRows } from './listing.ts'
import type { CallMatches, CallSearch, LoggedRun, LoggedRunQuery } from './log-browsing.ts'
import { runsOfRows } from './runs-of-rows.ts'
import { countingChanges } from './memory-version.ts'
import { searchRows, withContentsUpTo } from './search-rows.ts'
import { MemoryFences } from './memory-fences.ts'
import { MemoryRows, positionOf, type StoredRow } from './memory-rows.ts'
import { isOrphan, outcomeUnknown } from './orphan.ts'
import type {
  FinishPatch,
  PruneQuery,
  RecoverQuery,
  StartOptions,
  StartResult,
  StartRow,
  TaskAttempt,
  ToolCallLog,
  ToolCallQuery,
} from './tool-call-log.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** Options of {@link createMemoryLog}. */
export interface MemoryLogOptions {
  /**
   * Most rows kept. Beyond it the oldest finished row is forgotten, but never a running one, nor one of a run that may
   * continue: a recorded run that has not finished, or one with an approval that is pending or unused. `Infinity` keeps
   * all.
   *
   * @default 10_000
   */
  readonly maxRows?: number
  /**
   * Rows to begin with, in the order of their starts, as `snapshot` returns them. So an adapter that keeps its rows in
   * memory need only store them.
   *
   * @default none
   */
  readonly rows?: readonly ToolCallRow[]
}

/** A {@link ToolCallLog} in this process's memory. Every method answers at once. */
export interface MemoryLog extends ToolCallLog {
  readonly approvals: ApprovalStore
  readonly state: RunStateStore
  readonly runs: RunStore
  beginAttempt(attempt: TaskAttempt): 'ok' | 'superseded'
  start(row: StartRow, options: StartOptions): StartResult
  finish(callToken: string, patch: FinishPatch): 'ok' | 'fenced'
  renew(callToken: string, leaseExpiresAtMs: number): boolean
  list(query: ToolCallQuery): ToolCallRow[]
  listRuns(query: LoggedRunQuery): LoggedRun[]
  search(search: CallSearch): CallMatches
  version(): string
  recover(query: RecoverQuery): number
  prune(query: PruneQuery): number
  close(): void
  /** A copy of every row, in the order in which the calls started; also after `close`. */
  snapshot(): ToolCallRow[]
}

/**
 * Creates a log that lives and dies with the process: for tests, and for tools that are called outside a run. Claims
 * hold within the process. Rows are copied on the way in and on the way out.
 *
 * @throws SmithersError `INVALID_INPUT` when `maxRows` is not a positive integer or `Infinity`;
 *   `TOOL_LOG_UNAVAILABLE` from every method but `close` and `snapshot` once the log is closed.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createMemoryLog(options: MemoryLogOptions = {}): MemoryLog {
  const { maxRows = 10_000 } = options
  if (maxRows !== Infinity && (!Number.isInteger(maxRows) || maxRows < 1)) {
    throw new SmithersError(
      'INVALID_INPUT',
      `maxRows must be a positive integer or Infinity, got ${maxRows}.`,
      { details: { maxRows } },
    )
  }

  const rows = new MemoryRows()
  const fences = new MemoryFences()
  const approvals = createMemoryApprovals(assertOpen)
  const state = createMemoryRunState(assertOpen)
  const runs = createMemoryRuns(assertOpen)
  let closed = false
  let changes = 0
  for (const row of options.rows ?? []) keep({ ...row }, positionOf(row))

  /** Adds a row, and forgets the oldest finished one when there are too many. */
  function keep(row: StoredRow, position: string): void {
    changes += 1
    rows.add(row, position)
    if (rows.byToken.size <= maxRows) return
    const waiting = runsThatWait()
    const forgotten = rows.forgetOldestFinished((runId) => waiting.has(runId) || runs.isOpen(runId))
    if (forgotten === undefined) return
    state.forgetOutputOf(forgotten)
    if (!rows.byRun.has(forgotten.runId)) fences.forgetRun(forgotten.runId)
  }

  function runsThatWait(): ReadonlySet<string> {
    return approvals.waitingRuns((id) => rows.userOf(id) !== undefined)
  }

  function changed(): void {
    changes += 1
  }

  function assertOpen(): void {
    if (closed) {
      throw new SmithersError(
        'TOOL_LOG_UNAVAILABLE',
        'The tool-call log is closed. Open a new one.',
      )
    }
  }

  return markPrompt({
    name: 'memory',
    capabilities: {
      durable: false,
      multiProcess: false,
      claims: true,
      approvals: true,
      state: true,
      runs: true,
      attempts: true,
      browsing: true,
    },
    approvals: countingChanges(approvals.store, ['list'], changed),
    state: countingChanges(state.store, ['get'], changed),
    runs: countingChanges(runs.store, ['list', 'tasks', 'attempts', 'loops'], changed),

    beginAttempt(attempt) {
      assertOpen()
      return fences.begin(attempt)
    },

    start(row, { claim, known, approvalId = null }) {
      assertOpen()
      if (rows.byToken.has(row.callToken)) {
        throw new SmithersError(
          'INVALID_INPUT',
          `callToken ${JSON.stringify(row.callToken)} is already in the log. Give every call its own token.`,
        )
      }
      if (fences.isSuperseded(row)) return { ok: false, reason: 'superseded' }
      const position = positionOf(row)
      if (rows.byPosition.has(position)) return { ok: false, reason: 'seq-taken' }
      const existing = rows.holderOf(row.idempotencyKey, { claim, known })
      if (existing !== undefined)
        return { ok: false, reason: 'claimed', existing: rows.copyOf(existing) }
      const user = rows.userOf(approvalId)
      if (user !== undefined)
        return { ok: false, reason: 'approval-used', existing: rows.copyOf(user) }

      const started: StoredRow = {
        ...row,
        claim,
        outputJson: null,
        finishedAtMs: null,
        status: 'started',
        errorJson: null,
        effect: null,
      }
      // A spread of it would make every copy of a row many times dearer.
      if (approvalId !== null) started.approvalId = approvalId
      keep(started, position)
      return { ok: true }
    },

    finish(callToken, patch) {
      assertOpen()
      changes += 1
      return rows.finish(rows.byToken.get(callToken), patch) ? 'ok' : 'fenced'
    },

    renew(callToken, leaseExpiresAtMs) {
      assertOpen()
      const row = rows.byToken.get(callToken)
      if (row === undefined || row.finishedAtMs !== null) return false
      row.leaseExpiresAtMs = leaseExpiresAtMs
      changes += 1
      return true
    },

    list(query) {
      assertOpen()
      return selectRows(rows.candidates(query), query).map((row) =>
        withContentsUpTo(rows.copyOf(row), query),
      )
    },

    listRuns(query) {
      assertOpen()
      return runsOfRows(rows.byRun, runs.all(), query)
    },

    search(search) {
      assertOpen()
      return searchRows(
        Array.from(rows.candidates(search), (row) => rows.copyOf(row)),
        search,
      )
    },

    recover({ runId, nodeId, iteration, beforeAttempt = Infinity, nowMs }) {
      assertOpen()
      changes += 1
      let recovered = 0
      for (const row of rows.candidates(runId === undefined ? {} : { runId })) {
        const asked =
          (nodeId === undefined || nodeId === row.nodeId) &&
          (iteration === undefined || iteration === row.iteration) &&
          row.attempt < beforeAttempt
        if (asked && isOrphan(row, nowMs) && rows.finish(row, outcomeUnknown(nowMs))) recovered += 1
      }
      return recovered
    },

    prune(query) {
      assertOpen()
      changes += 1
      const nowMs = Date.now()
      const named = new Set((query.runs ?? []).filter((runId) => !runs.isHeld(runId, nowMs)))
      const waiting = runsThatWait()
      const { removed, ...remaining } = rows.prune(query, {
        isOpen: (runId) => waiting.has(runId) || runs.isOpen(runId),
        isNamed: (runId) => named.has(runId),
      })
      approvals.prune(remaining)
      state.prune(remaining)
      runs.prune(remaining)
      fences.prune(remaining)
      return removed
    },

    close() {
      closed = true
    },

    version() {
      assertOpen()
      return String(changes)
    },

    snapshot: () => Array.from(rows.byToken.values(), (row) => rows.copyOf(row)),
  })
}
