import { isOrphan, outcomeUnknown } from '@smithers/tool-core/log'
import type { RecoverQuery, ToolCallRow } from '@smithers/tool-core/log'
import { callFrom, finishedAssignments, finishedValues, selectedColumns } from './call-rows.ts'
import type { LogConnection } from './log-connection.ts'
import type { PostgresValue } from './postgres-pool.ts'
import { storedText } from './stored-text.ts'

/** Finishes the orphans among the running rows. Of several processes that try, one finishes each row. */
export async function recoverOrphans(
  connection: LogConnection,
  query: RecoverQuery,
): Promise<number> {
  const { toolCalls } = connection.tables
  const { nowMs } = query
  const judged = new Set<string>()
  return await connection.write('mark interrupted calls', async (mayBeStored) => {
    const orphans = await findOrphans(connection, query)
    for (const { callToken } of orphans) judged.add(storedText(callToken))
    let marked = 0
    if (orphans.length > 0) {
      const { rowCount } = await connection.query(
        markSql(toolCalls, connection.commitMode(false)),
        [
          ...finishedValues(outcomeUnknown(nowMs)),
          orphans.map(({ callToken }) => storedText(callToken)),
          orphans.map(({ leaseExpiresAtMs }) => leaseExpiresAtMs),
        ],
      )
      marked = rowCount ?? 0
    }
    if (!mayBeStored || judged.size === 0) return marked
    // An earlier try may have marked some, and its answer was lost.
    const { rows } = await connection.query(
      `SELECT count(*) AS marked FROM ${toolCalls}
        WHERE call_token = ANY ($1::text[]) AND finished_at_ms = $2 AND effect = 'unknown'`,
      [[...judged], nowMs],
    )
    return Number(rows[0]?.['marked'])
  })
}

async function findOrphans(
  connection: LogConnection,
  { runId, nodeId, iteration, beforeAttempt, nowMs }: RecoverQuery,
): Promise<ToolCallRow[]> {
  const conditions = ['finished_at_ms IS NULL']
  const values: PostgresValue[] = []
  const given = [
    ['run_id =', runId],
    ['node_id =', nodeId],
    ['iteration =', iteration],
    ['attempt <', beforeAttempt],
  ] as const
  for (const [condition, value] of given) {
    if (value === undefined) continue
    values.push(typeof value === 'string' ? storedText(value) : value)
    conditions.push(`${condition} $${values.length}`)
  }
  const { rows } = await connection.query(
    `SELECT ${selectedColumns} FROM ${connection.tables.toolCalls} WHERE ${conditions.join(' AND ')}`,
    values,
  )
  return rows.map(callFrom).filter((row) => isOrphan(row, nowMs))
}

/**
 * Takes `finishedValues`, the tokens and the leases that were judged: a row that was renewed since has an owner after
 * all. Rows are locked in one order, so that recoveries that race do not wait for each other for good.
 */
function markSql(toolCalls: string, commitMode: string): string {
  return `WITH ${commitMode},
    orphans AS MATERIALIZED (
      SELECT call_token FROM ${toolCalls} AS running
        JOIN unnest($10::text[], $11::bigint[]) AS judged (token, lease) ON call_token = judged.token
      WHERE finished_at_ms IS NULL AND lease_expires_at_ms IS NOT DISTINCT FROM judged.lease
      ORDER BY call_token FOR UPDATE OF running)
    UPDATE ${toolCalls} AS marked SET ${finishedAssignments}
    FROM commit_mode, orphans
    WHERE marked.call_token = orphans.call_token AND marked.finished_at_ms IS NULL`
}
