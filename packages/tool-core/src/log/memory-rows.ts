import { type DeferredOutput, deferredOutputOf } from './deferred-output.ts'
import type { FinishPatch, PruneQuery, StartRow, ToolCallQuery } from './tool-call-log.ts'
import { type ToolCallClaim, type ToolCallRow, usesApproval } from './tool-call-row.ts'

export type StoredRow = { -readonly [Field in keyof ToolCallRow]: ToolCallRow[Field] }

/** What a prune has left, for whatever belongs to calls and to runs. */
export interface Remaining {
  /** What was changed at this moment or later stays. Milliseconds since the epoch. */
  readonly keptFromMs: number
  readonly hasRun: (runId: string) => boolean
  /** The run may continue: nothing of it is removed. */
  readonly isOpen: (runId: string) => boolean
  /** Everything of the run is removed. */
  readonly isNamed: (runId: string) => boolean
  readonly hasCall: (callToken: string) => boolean
  /** A call that ran with the approval is still there. */
  readonly hasCallWith: (approvalId: string) => boolean
}

/** Identifies a row within the log: what the primary key of a table would hold. */
export function positionOf(row: StartRow): string {
  const { runId, nodeId, iteration, attempt, seq } = row
  // The length tells where the one identifier ends and the other begins.
  return `${seq} ${attempt} ${iteration} ${runId.length} ${runId}${nodeId}`
}

/** The rows, in the order of their starts, and the ways to find one without looking at all. */
export class MemoryRows {
  readonly byToken: Map<string, StoredRow> = new Map()
  readonly byPosition: Map<string, StoredRow> = new Map()
  readonly byRun: Map<string, Set<StoredRow>> = new Map()
  readonly #claimsByKey = new Map<string, Set<StoredRow>>()
  readonly #byApproval = new Map<string, Set<StoredRow>>()
  /** The rows that may be forgotten, oldest first, but for those of runs that were kept when they were looked at. */
  #inOrder = new Set<StoredRow>()
  readonly #setAside = new Map<string, Set<StoredRow>>()
  /** Outputs that become part of their rows when those are read. */
  readonly #unread = new Map<StoredRow, DeferredOutput>()

  /** @param position {@link positionOf} the row. */
  add(row: StoredRow, position: string): void {
    this.byToken.set(row.callToken, row)
    this.#inOrder.add(row)
    this.byPosition.set(position, row)
    addTo(this.byRun, row.runId, row)
    if (row.claim !== null && row.idempotencyKey !== null) {
      addTo(this.#claimsByKey, row.idempotencyKey, row)
    }
    if (typeof row.approvalId === 'string') addTo(this.#byApproval, row.approvalId, row)
  }

  remove(row: StoredRow): void {
    this.byToken.delete(row.callToken)
    this.byPosition.delete(positionOf(row))
    this.#unread.delete(row)
    this.#inOrder.delete(row)
    removeFrom(this.#setAside, row.runId, row)
    removeFrom(this.byRun, row.runId, row)
    if (row.idempotencyKey !== null) removeFrom(this.#claimsByKey, row.idempotencyKey, row)
    if (typeof row.approvalId === 'string') removeFrom(this.#byApproval, row.approvalId, row)
  }

  finish(row: StoredRow | undefined, patch: FinishPatch): boolean {
    if (row === undefined || row.finishedAtMs !== null) return false
    const unread = deferredOutputOf(patch)
    row.status = patch.status
    row.errorJson = patch.errorJson
    row.effect = patch.effect
    row.finishedAtMs = patch.finishedAtMs
    if (patch.replayOf !== undefined) row.replayOf = patch.replayOf
    if (patch.fromCache === true) row.fromCache = true
    if (patch.networkJson !== undefined) row.networkJson = patch.networkJson
    if (unread === undefined) setOutput(row, patch.outputJson, patch.outputExact)
    else this.#unread.set(row, unread)
    return true
  }

  /** A copy of a row, as callers of the log get it. */
  copyOf(row: StoredRow): ToolCallRow {
    const unread = this.#unread.get(row)
    if (unread !== undefined) {
      setOutput(row, unread.json, unread.exact)
      this.#unread.delete(row)
    }
    return { ...row }
  }

  /** The row that keeps a key from being claimed now. */
  holderOf(
    key: string | null,
    {
      claim,
      known,
    }: { readonly claim: ToolCallClaim | null; readonly known: readonly string[] | undefined },
  ): StoredRow | undefined {
    if (key === null || claim === null) return undefined
    for (const row of this.#claimsByKey.get(key) ?? []) {
      const succeededOnce = claim === 'once' && row.claim === 'once' && row.status === 'success'
      const isNews = known !== undefined && row.effect !== 'none' && !known.includes(row.callToken)
      if (row.finishedAtMs === null || succeededOnce || isNews) return row
    }
    return undefined
  }

  /** The row that uses an approval. */
  userOf(approvalId: string | null): StoredRow | undefined {
    if (approvalId === null) return undefined
    return [...(this.#byApproval.get(approvalId) ?? [])].find(usesApproval)
  }

  candidates({
    runId,
    callToken,
    approvalId,
  }: Pick<ToolCallQuery, 'runId' | 'callToken' | 'approvalId'>): Iterable<StoredRow> {
    if (approvalId !== undefined) return this.#byApproval.get(approvalId) ?? []
    if (callToken !== undefined) {
      const row = this.byToken.get(callToken)
      return row === undefined ? [] : [row]
    }
    return runId === undefined ? this.byToken.values() : (this.byRun.get(runId) ?? [])
  }

  /** Removes the oldest finished row of a run that is not kept, and returns it. */
  forgetOldestFinished(isKept: (runId: string) => boolean): StoredRow | undefined {
    for (const [runId, rows] of this.#setAside) {
      if (isKept(runId)) continue
      this.#setAside.delete(runId)
      this.#inOrder = new Set([...rows, ...this.#inOrder])
    }
    for (const row of this.#inOrder) {
      if (row.finishedAtMs === null) continue
      if (!isKept(row.runId)) {
        this.remove(row)
        return row
      }
      // So that the next search need not pass it.
      this.#inOrder.delete(row)
      addTo(this.#setAside, row.runId, row)
    }
    return undefined
  }

  /** Removes the finished rows that any condition of the query gives up; returns how many, and what there still is. */
  prune(
    { finishedBeforeMs, keepRuns, maxRows }: PruneQuery,
    kept: Pick<Remaining, 'isOpen' | 'isNamed'>,
  ): Remaining & { removed: number } {
    // Reversed first: of rows that started in the same millisecond the later one is newer.
    const newestFirst = [...this.byToken.values()]
      .toReversed()
      .toSorted((a, b) => b.startedAtMs - a.startedAtMs)
    const runs = new Map<string, number>()
    for (const { runId, startedAtMs } of newestFirst) {
      if (!runs.has(runId)) runs.set(runId, startedAtMs)
    }
    const keptRuns = new Map([...runs].slice(0, keepRuns))
    const removable = newestFirst.filter(
      (row, index) =>
        row.finishedAtMs !== null &&
        (kept.isNamed(row.runId) ||
          (!kept.isOpen(row.runId) &&
            ((finishedBeforeMs !== undefined && row.finishedAtMs < finishedBeforeMs) ||
              !keptRuns.has(row.runId) ||
              (maxRows !== undefined && index >= maxRows)))),
    )
    for (const row of removable) this.remove(row)
    return {
      ...kept,
      removed: removable.length,
      keptFromMs: Math.max(
        finishedBeforeMs ?? -Infinity,
        oldestKept([...keptRuns.values()], keepRuns),
        oldestKept(
          newestFirst.map((row) => row.startedAtMs),
          maxRows,
        ),
      ),
      hasRun: (runId) => this.byRun.has(runId),
      hasCall: (callToken) => this.byToken.has(callToken),
      hasCallWith: (approvalId) => this.#byApproval.has(approvalId),
    }
  }
}

function setOutput(row: StoredRow, json: string | null, exact: boolean | undefined): void {
  row.outputJson = json
  if (exact === true) row.outputExact = true
}

/** When the oldest of so many newest began: before all time when there are fewer, after it when none is kept. */
function oldestKept(newestFirst: readonly number[], count: number | undefined): number {
  if (count === undefined || newestFirst.length < count) return -Infinity
  return newestFirst[count - 1] ?? Infinity
}

function addTo(index: Map<string, Set<StoredRow>>, key: string, row: StoredRow): void {
  const rows = index.get(key)
  if (rows === undefined) index.set(key, new Set([row]))
  else rows.add(row)
}

function removeFrom(index: Map<string, Set<StoredRow>>, key: string, row: StoredRow): void {
  const rows = index.get(key)
  rows?.delete(row)
  if (rows?.size === 0) index.delete(key)
}
