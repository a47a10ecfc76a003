import { setImmediate as nextTurn } from 'node:timers/promises'
import { archiveKey } from '@smithers/tool-core/log'
import type { PruneQuery } from '@smithers/tool-core/log'
import { afterwards } from './afterwards.ts'
import type { LogConnection } from './log-connection.ts'
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
  return afterwards(removed, (count) =>
    afterwards(removeBelongings(connection, old.keptFromMs), () => count),
  )
}

interface Deletion {
  /** Removes at most {@link batchSize} rows. */
  readonly sql: string
  readonly values: readonly SqlValue[]
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

const batchSize = 500

/** The rows that any condition of the query gives up, and from when on everything else is kept. */
function oldRows(
  connection: LogConnection,
  { finishedBeforeMs, keepRuns, maxRows }: PruneQuery,
): { readonly deletion: Deletion; readonly keptFromMs: number } | undefined {
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
      (place) =>
        (place < 0 ? undefined : connection.prepare(newestRowSql).get(place)) as
          | { at: number; rowid: number }
          | undefined,
    )
    anyOf.push(boundary === undefined ? 'false' : '(started_at_ms, rowid) <= (?, ?)')
    if (boundary !== undefined) values.push(boundary.at, boundary.rowid)
    if (oldest !== undefined || maxRows === 0)
      keptFromMs = Math.max(keptFromMs, oldest?.at ?? Infinity)
  }
  if (anyOf.length === 0) return undefined
  const sql = `DELETE FROM _smithers_tool_calls WHERE rowid IN (
    SELECT rowid FROM _smithers_tool_calls
    WHERE finished_at_ms IS NOT NULL AND (${anyOf.join(' OR ')}) LIMIT ${batchSize})`
  return { deletion: { sql, values }, keptFromMs }
}

/** Removes the approvals and values of calls and runs that have no row any more. */
function removeBelongings(connection: LogConnection, keptFromMs: number): void | Promise<void> {
  if (keptFromMs === -Infinity) return undefined
  const values = [Math.min(keptFromMs, Number.MAX_VALUE)]
  const approvals = connection.write('remove old approvals', () =>
    connection.erasing(() => Number(connection.prepare(oldApprovalsSql).run(...values).changes)),
  )
  return afterwards(approvals, (count) =>
    afterwards(count > 0 ? connection.scrub() : undefined, () =>
      afterwards(
        inBatches(connection, 'remove old values', { sql: oldStateSql, values }),
        () => undefined,
      ),
    ),
  )
}

// People decide about approvals, so there are few, and one statement removes them.
const oldApprovalsSql = `DELETE FROM _smithers_tool_approvals AS old
  WHERE max(requested_at_ms, coalesce(decided_at_ms, 0)) < ? AND (
    NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
    OR (status = 'used' AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE approval_id = old.id)))`

const archivePrefix = archiveKey('')

const oldStateSql = `DELETE FROM _smithers_run_state WHERE rowid IN (
  SELECT rowid FROM _smithers_run_state AS old WHERE updated_at_ms < ? AND (
    NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
    OR (substr(key, 1, ${archivePrefix.length}) = '${archivePrefix}'
      AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls
        WHERE call_token = substr(old.key, ${archivePrefix.length + 1}))))
  LIMIT ${batchSize})`

// Each run by its newest call. In hexadecimal, which JSON carries whatever the identifier holds.
const newestRunsSql = `SELECT hex(run_id) AS run, started_at_ms AS at FROM (
    SELECT run_id, started_at_ms, rowid AS row,
      row_number() OVER (PARTITION BY run_id ORDER BY started_at_ms DESC, rowid DESC) AS place
    FROM _smithers_tool_calls)
  WHERE place = 1 ORDER BY started_at_ms DESC, row DESC LIMIT ?`

const newestRowSql = `SELECT started_at_ms AS at, rowid FROM _smithers_tool_calls
  ORDER BY started_at_ms DESC, rowid DESC LIMIT 1 OFFSET ?`
