import { isOrphan, outcomeUnknown } from '@smithers/tool-core/log'
import type { RecoverQuery, ToolCallRow } from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { bindText, finishSql, finishValues, rowFromColumns, selectedColumns } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/** Finishes the orphans among the running rows. Of several processes that try, one finishes each row. */
export function recoverOrphans(
  connection: LogConnection,
  query: RecoverQuery,
): number | Promise<number> {
  // Most calls of `recover` find nothing; they must not take the write lock.
  const orphans = connection.read('look for interrupted calls', () =>
    findOrphans(connection, query),
  )
  if (orphans.length === 0) return 0
  const { nowMs } = query
  return connection.write('mark interrupted calls', () => {
    let recovered = 0
    for (const { callToken, leaseExpiresAtMs } of orphans) {
      const values = finishValues(callToken, outcomeUnknown(nowMs))
      // The lease that was judged: a row that was renewed since has an owner after all.
      const { changes } = connection
        .prepare(`${finishSql} AND lease_expires_at_ms IS ?`)
        .run(...values, leaseExpiresAtMs)
      recovered += Number(changes)
    }
    return recovered
  })
}

function findOrphans(connection: LogConnection, query: RecoverQuery): ToolCallRow[] {
  const { runId, nodeId, iteration, beforeAttempt, nowMs } = query
  const conditions = ['finished_at_ms IS NULL']
  const values: SqlValue[] = []
  const given = [
    ['run_id = ?', runId],
    ['node_id = ?', nodeId],
    ['iteration = ?', iteration],
    ['attempt < ?', beforeAttempt],
  ] as const
  for (const [condition, value] of given) {
    if (value === undefined) continue
    conditions.push(condition)
    values.push(typeof value === 'string' ? bindText(value) : value)
  }
  return connection
    .prepare(
      `SELECT ${selectedColumns} FROM _smithers_tool_calls WHERE ${conditions.join(' AND ')}`,
    )
    .all(...values)
    .map(rowFromColumns)
    .filter((row) => isOrphan(row, nowMs))
}
