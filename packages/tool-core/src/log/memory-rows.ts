import type { FinishPatch, PruneQuery, StartRow, ToolCallQuery } from './tool-call-log.ts'
import type { ToolCallClaim, ToolCallRow } from './tool-call-row.ts'

export type StoredRow = { -readonly [Field in keyof ToolCallRow]: ToolCallRow[Field] }

/** Identifies a row within the log: what the primary key of a table would hold. */
export function positionOf(row: StartRow): string {
  return JSON.stringify([row.runId, row.nodeId, row.iteration, row.attempt, row.seq])
}

/** The rows, in the order of their starts, and the ways to find one without looking at all. */
export class MemoryRows {
  readonly byToken: Map<string, StoredRow> = new Map()
  readonly byPosition: Map<string, StoredRow> = new Map()
  readonly #byRun = new Map<string, Set<StoredRow>>()
  readonly #claimsByKey = new Map<string, Set<StoredRow>>()

  add(row: StoredRow): void {
    this.byToken.set(row.callToken, row)
    this.byPosition.set(positionOf(row), row)
    addTo(this.#byRun, row.runId, row)
    if (row.claim !== null && row.idempotencyKey !== null) {
      addTo(this.#claimsByKey, row.idempotencyKey, row)
    }
  }

  remove(row: StoredRow): void {
    this.byToken.delete(row.callToken)
    this.byPosition.delete(positionOf(row))
    removeFrom(this.#byRun, row.runId, row)
    if (row.idempotencyKey !== null) removeFrom(this.#claimsByKey, row.idempotencyKey, row)
  }

  finish(row: StoredRow | undefined, patch: FinishPatch): boolean {
    if (row === undefined || row.finishedAtMs !== null) return false
    const { status, outputJson, errorJson, effect, finishedAtMs, replayOf } = patch
    Object.assign(row, { status, outputJson, errorJson, effect, finishedAtMs })
    if (replayOf !== undefined) row.replayOf = replayOf
    if (patch.fromCache === true) row.fromCache = true
    return true
  }

  /** The row that keeps a key from being claimed now. */
  holderOf(key: string | null, claim: ToolCallClaim | null): StoredRow | undefined {
    if (key === null || claim === null) return undefined
    for (const row of this.#claimsByKey.get(key) ?? []) {
      const succeededOnce = claim === 'once' && row.claim === 'once' && row.status === 'success'
      if (row.finishedAtMs === null || succeededOnce) return row
    }
    return undefined
  }

  candidates({
    runId,
    callToken,
  }: Pick<ToolCallQuery, 'runId' | 'callToken'>): Iterable<StoredRow> {
    if (callToken !== undefined) {
      const row = this.byToken.get(callToken)
      return row === undefined ? [] : [row]
    }
    return runId === undefined ? this.byToken.values() : (this.#byRun.get(runId) ?? [])
  }

  forgetOldestFinished(): void {
    for (const row of this.byToken.values()) {
      if (row.finishedAtMs !== null) {
        this.remove(row)
        return
      }
    }
  }

  /** The finished rows that any condition of the query gives up. */
  removableBy({ finishedBeforeMs, keepRuns, maxRows }: PruneQuery): StoredRow[] {
    // Reversed first: of rows that started in the same millisecond the later one is newer.
    const newestFirst = [...this.byToken.values()]
      .toReversed()
      .toSorted((a, b) => b.startedAtMs - a.startedAtMs)
    const runs = new Set(newestFirst.map((row) => row.runId))
    const keptRuns = new Set([...runs].slice(0, keepRuns))
    return newestFirst.filter(
      (row, index) =>
        row.finishedAtMs !== null &&
        ((finishedBeforeMs !== undefined && row.finishedAtMs < finishedBeforeMs) ||
          !keptRuns.has(row.runId) ||
          (maxRows !== undefined && index >= maxRows)),
    )
  }
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
