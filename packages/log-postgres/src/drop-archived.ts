import { monthOf } from './archive-tables.ts'
import type { LogConnection } from './log-connection.ts'
import { batchSize, belongingsOfRuns } from './prune-belongings.ts'
import { quoteIdentifier } from './tables.ts'

/** Which months {@link PostgresLog.dropArchived} drops. */
export interface DropArchivedQuery {
  /** Months of UTC that end at or before this. Milliseconds since the epoch. */
  readonly beforeMs: number
}

/** What {@link PostgresLog.dropArchived} has dropped. */
export interface DropArchivedResult {
  /** The names of the partitions, oldest first. */
  readonly partitions: readonly string[]
  /** Runs of which nothing is left. */
  readonly runs: number
}

export async function dropArchived(
  connection: LogConnection,
  { beforeMs }: DropArchivedQuery,
): Promise<DropArchivedResult> {
  const beginningMs = monthOf(beforeMs).fromMs
  const old = await partitionsBefore(connection, beginningMs)
  for (const name of old) {
    const partition = `${quoteIdentifier(connection.tables.schema)}.${quoteIdentifier(name)}`
    // Without a limit, starts would wait behind this statement for as long as it waits for a long listing.
    const text = `SELECT set_config('lock_timeout', '${longestLockMs}', true); DROP TABLE IF EXISTS ${partition}`
    await connection.write('drop a month of the archive', () => connection.query(text))
  }
  return { partitions: old, runs: await removeRunsBefore(connection, beginningMs) }
}

async function partitionsBefore(connection: LogConnection, beforeMs: number): Promise<string[]> {
  const { rows } = await connection.read('list the months of the archive', () =>
    connection.query(
      `SELECT relname AS name, substring(pg_get_expr(relpartbound, pg_class.oid) FROM 'TO \\(''?(-?[0-9]+)') AS before_ms
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = to_regclass($1)
        ORDER BY relname`,
      [connection.tables.archive],
    ),
  )
  return rows
    .filter((row) => Number(row['before_ms']) <= beforeMs)
    .map((row) => String(row['name']))
}

/** Asks for runs rather than partitions, so that what a killed process left is removed by the next one. */
async function removeRunsBefore(connection: LogConnection, beforeMs: number): Promise<number> {
  const { archivedRuns, allCalls } = connection.tables
  let removed = 0
  for (;;) {
    const { rows } = await connection.read('list runs without calls', () =>
      connection.query(
        `SELECT run_id FROM ${archivedRuns} AS gone WHERE last_started_at_ms < $1
          AND NOT EXISTS (SELECT 1 FROM ${allCalls} WHERE run_id = gone.run_id) LIMIT ${batchSize}`,
        [beforeMs],
      ),
    )
    const runIds = rows.map((row) => String(row['run_id']))
    for (const { text, values } of belongingsOfRuns(connection.tables, runIds)) {
      let count: number | null
      do {
        const { rowCount } = await connection.write('remove what belonged to runs', () =>
          connection.query(text, values),
        )
        count = rowCount
      } while (count === batchSize)
    }
    // Last, so that a killed process leaves no belongings that no one finds.
    await connection.write('remove what belonged to runs', () =>
      connection.query(`DELETE FROM ${archivedRuns} WHERE run_id = ANY ($1::text[])`, [runIds]),
    )
    removed += runIds.length
    if (runIds.length < batchSize) return removed
  }
}

const longestLockMs = 2000
