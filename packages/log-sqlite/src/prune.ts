import { setImmediate as nextTurn } from 'node:timers/promises'
import { isRunFree } from '@smithers/tool-core/log'
import type { PruneQuery, RunRow } from '@smithers/tool-core/log'
import { whenSettled } from './when-settled.ts'
import type { LogConnection } from './log-connection.ts'
import {
  batchSize,
  type Deletion,
  belongingsOfRuns,
  oldApprovals,
  oldBelongings,
  openRunsSql,
} from './prune-belongings.ts'
import { bindText } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/**
 * Removes finished rows, and then what belonged to them, in small transactions, so that neither this process nor a
 * writing one waits for all of them. What is old is decided once, at the beginning.
 */
export function pruneInBatches(
  connection: LogConnection,
  query: PruneQuery,
): number | Promise<number> {
  const old = connection.read('choose calls to remove', () => oldRows(connection, query))
  if (old === undefined) return 0
  const removed = inBatches(connection, 'remove old calls', old.deletion)
  return whenSettled(removed, (count) =>
    whenSettled(removeBelongings(connection, old), () => count),
  )
}

function inBatches(
  connection: LogConnection,
  action: string,
  { sql, values }: Deletion,
): number | Promise<number> {
  const removeBatch = (): number | Promise<number> =>
    connection.write(action, () => Number(connection.prepare(sql).run(...values).changes))

  const first = removeBatch()
  if (typeof first === 'number' && first < batchSize) return first
  return (async () => {
    let removed = 0
    for (let batch = await first; ; batch = await removeBatch()) {
      removed += batch
      if (batch < batchSize) return removed
      await nextTurn()
    }
  })()
}

interface OldRows {
  readonly deletion: Deletion
  /** Everything that was changed at this moment or later stays. Milliseconds since the epoch. */
  readonly keptFromMs: number
  /** Runs to remove whole, as hexadecimal text in a JSON array. */
  readonly named: string
}

/** The rows that any condition of the query gives up, and from when on everything else is kept. */
function oldRows(
  connection: LogConnection,
  { finishedBeforeMs, keepRuns, maxRows, runs = [] }: PruneQuery,
): OldRows | undefined {
  const anyOf: string[] = []
  const values: SqlValue[] = []
  let keptFromMs = -Infinity
  if (finishedBeforeMs !== undefined) {
    anyOf.push('finished_at_ms < ?')
    values.push(finishedBeforeMs)
    keptFromMs = finishedBeforeMs
  }
  if (keepRuns !== undefined) {
    anyOf.push('hex(run_id) NOT IN (SELECT value FROM json_each(?))')
    const kept = connection.prepare(newestRunsSql).all(keepRuns) as { run: string; at: number }[]
    values.push(JSON.stringify(kept.map(({ run }) => run)))
    if (kept.length >= keepRuns) keptFromMs = Math.max(keptFromMs, kept.at(-1)?.at ?? Infinity)
  }
  if (maxRows !== undefined) {
    // The oldest row that is kept, and the newest that is too many.
    const [oldest, boundary] = [maxRows - 1, maxRows].map(
      (offset) =>
        (offset < 0 ? undefined : connection.prepare(newestRowSql).get(offset)) as
          | { at: number; rowid: number }
          | undefined,
    )
    anyOf.push(boundary === undefined ? 'false' : '(started_at_ms, rowid) <= (?, ?)')
    if (boundary !== undefined) values.push(boundary.at, boundary.rowid)
    if (oldest !== undefined || maxRows === 0)
      keptFromMs = Math.max(keptFromMs, oldest?.at ?? Infinity)
  }
  if (anyOf.length === 0 && runs.length === 0) return undefined
  const nowMs = Date.now()
  const named = JSON.stringify(runs.filter((runId) => !isHeld(connection, runId, nowMs)).map(hexOf))
  const isOld = `(${anyOf.join(' OR ') || 'false'}) AND run_id NOT IN (${openRunsSql})`
  const sql = `DELETE FROM _smithers_tool_calls WHERE rowid IN (
    SELECT rowid FROM _smithers_tool_calls WHERE finished_at_ms IS NOT NULL
      AND ((${isOld}) OR hex(run_id) IN (SELECT value FROM json_each(?))) LIMIT ${batchSize})`
  return { deletion: { sql, values: [...values, nowMs, named] }, keptFromMs, named }
}

function isHeld(connection: LogConnection, runId: string, nowMs: number): boolean {
  const run = connection.prepare(leaseSql).get(bindText(runId)) as
    | Pick<RunRow, 'leaseToken' | 'leaseExpiresAtMs' | 'ownerId'>
    | undefined
  return run !== undefined && !isRunFree(run, nowMs)
}

/** A run's id as SQLite's hex() gives it, which JSON carries whatever the identifier holds. */
function hexOf(runId: string): string {
  const bound = bindText(runId)
  return (bound instanceof Uint8Array ? Buffer.from(bound) : Buffer.from(String(bound)))
    .toString('hex')
    .toUpperCase()
}

/** Removes the approvals, values and records of calls and runs that have no row any more, and of named runs. */
function removeBelongings(
  connection: LogConnection,
  { keptFromMs, named }: OldRows,
): void | Promise<void> {
  if (keptFromMs === -Infinity && named === '[]') return undefined
  const kept = Math.min(keptFromMs, Number.MAX_VALUE)
  const nowMs = Date.now()
  const approvals = connection.write('remove old approvals', () =>
    connection.erasing(() => {
      const { sql, values } = oldApprovals(kept, nowMs, named)
      return Number(connection.prepare(sql).run(...values).changes)
    }),
  )
  const others = [...oldBelongings(kept, nowMs), ...(named === '[]' ? [] : belongingsOfRuns(named))]
  return whenSettled(approvals, (count) =>
    whenSettled(count > 0 ? connection.scrub() : undefined, () => inTurn(connection, others)),
  )
}

/** Runs deletions one after the other; a promise only when one of them had to wait. */
function inTurn(
  connection: LogConnection,
  [deletion, ...others]: readonly Deletion[],
): void | Promise<void> {
  if (deletion === undefined) return undefined
  const removed = inBatches(connection, 'remove old runs and values', deletion)
  return whenSettled(removed, () => inTurn(connection, others))
}

const leaseSql = `SELECT lease_token AS leaseToken, lease_expires_at_ms AS leaseExpiresAtMs, owner_id AS ownerId
  FROM _smithers_runs WHERE run_id = ?`

// Each run by its newest call. In hexadecimal, which JSON carries whatever the identifier holds.
const newestRunsSql = `SELECT hex(run_id) AS run, started_at_ms AS at FROM (
    SELECT run_id, started_at_ms, rowid AS row,
      row_number() OVER (PARTITION BY run_id ORDER BY started_at_ms DESC, rowid DESC) AS position
    FROM _smithers_tool_calls)
  WHERE position = 1 ORDER BY started_at_ms DESC, row DESC LIMIT ?`

const newestRowSql = `SELECT started_at_ms AS at, rowid FROM _smithers_tool_calls
  ORDER BY started_at_ms DESC, rowid DESC LIMIT 1 OFFSET ?`
