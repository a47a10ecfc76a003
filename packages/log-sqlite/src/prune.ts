import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PruneQuery } from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import type { SqlValue } from './sqlite-database.ts'

/**
 * Removes finished rows in small transactions, so that neither this process nor a writing one waits for all of them.
 * What is old is decided once, at the beginning.
 */
export function pruneInBatches(
  connection: LogConnection,
  query: PruneQuery,
): number | Promise<number> {
  const { sql, values } = connection.read('choose calls to remove', () =>
    deletion(connection, query),
  )
  if (sql === null) return 0
  const removeBatch = (): number | Promise<number> =>
    connection.write('remove old calls', () =>
      Number(connection.prepare(sql).run(...values).changes),
    )

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

function deletion(
  connection: LogConnection,
  { finishedBeforeMs, keepRuns, maxRows }: PruneQuery,
): { sql: string | null; values: SqlValue[] } {
  const anyOf: string[] = []
  const values: SqlValue[] = []
  if (finishedBeforeMs !== undefined) {
    anyOf.push('finished_at_ms < ?')
    values.push(finishedBeforeMs)
  }
  if (keepRuns !== undefined) {
    anyOf.push('hex(run_id) NOT IN (SELECT value FROM json_each(?))')
    const kept = connection.prepare(newestRunsSql).all(keepRuns) as { run: string }[]
    values.push(JSON.stringify(kept.map(({ run }) => run)))
  }
  if (maxRows !== undefined) {
    const boundary = connection.prepare(boundarySql).get(maxRows) as
      | { started_at_ms: number; rowid: number }
      | undefined
    if (boundary !== undefined) {
      anyOf.push('(started_at_ms, rowid) <= (?, ?)')
      values.push(boundary.started_at_ms, boundary.rowid)
    }
  }
  if (anyOf.length === 0) return { sql: null, values }
  return {
    sql: `DELETE FROM _smithers_tool_calls WHERE rowid IN (
      SELECT rowid FROM _smithers_tool_calls
      WHERE finished_at_ms IS NOT NULL AND (${anyOf.join(' OR ')}) LIMIT ${batchSize})`,
    values,
  }
}

// Each run by its newest call. In hexadecimal, which JSON carries whatever the identifier holds.
const newestRunsSql = `SELECT hex(run_id) AS run FROM (
    SELECT run_id, started_at_ms, rowid AS row,
      row_number() OVER (PARTITION BY run_id ORDER BY started_at_ms DESC, rowid DESC) AS place
    FROM _smithers_tool_calls)
  WHERE place = 1 ORDER BY started_at_ms DESC, row DESC LIMIT ?`

// The newest row that is too many.
const boundarySql = `SELECT started_at_ms, rowid FROM _smithers_tool_calls
  ORDER BY started_at_ms DESC, rowid DESC LIMIT 1 OFFSET ?`
