import type { ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'
import { callFrom } from './call-rows.ts'
import { columnsOf, listQuery, type Statement } from './list-query.ts'
import type { LogConnection } from './log-connection.ts'
import type { PostgresRow } from './postgres-pool.ts'
import { storedText } from './stored-text.ts'

/**
 * Lists calls, archived ones too. The table of the calls is asked alone first: it answers what is asked while a run goes
 * on. The archive is asked when it may hold a row of the answer, together with the table, so that a run that is moved
 * meanwhile is neither missed nor seen twice.
 */
export function listCalls(connection: LogConnection, query: ToolCallQuery): Promise<ToolCallRow[]> {
  const { toolCalls, allCalls } = connection.tables
  return connection.read('list calls', async () => {
    const { values } = listQuery(toolCalls, query)
    const until = untilSql(connection, query, values.length + 1)
    const columns = `${columnsOf(query)}, (${until.text}) AS archived_until`
    const { text } = listQuery(toolCalls, query, [], columns)
    const { rows } = await connection.query(text, [...values, ...until.values])
    if (!(await reachesBack(connection, query, rows))) return rows.map(callFrom)
    const both = listQuery(allCalls, query)
    return (await connection.query(both.text, both.values)).rows.map(callFrom)
  })
}

async function reachesBack(
  connection: LogConnection,
  query: ToolCallQuery,
  rows: readonly PostgresRow[],
): Promise<boolean> {
  // A token names one row.
  if (query.callToken !== undefined && rows.length > 0) return false
  const last = rows.at(-1)
  const until = last === undefined ? await askUntil(connection, query) : last['archived_until']
  if (until === null || until === undefined) return false
  if (query.startedFromMs !== undefined && Number(until) < query.startedFromMs) return false
  const isFull = query.limit !== Infinity && rows.length >= (query.limit ?? 1000)
  const oldestMs = Math.min(...rows.map((row) => Number(row['started_at_ms'])))
  return !(isFull && query.order === 'descending' && oldestMs > Number(until))
}

async function askUntil(connection: LogConnection, query: ToolCallQuery): Promise<unknown> {
  const { text, values } = untilSql(connection, query, 1)
  const { rows } = await connection.query(`SELECT (${text}) AS until`, values)
  return rows[0]?.['until']
}

/** The newest start of an archived call, of the run that is asked for if one is. Null when there is none. */
function untilSql(
  { tables }: LogConnection,
  { runId }: ToolCallQuery,
  parameter: number,
): Statement {
  const newest = `SELECT max(last_started_at_ms) FROM ${tables.archivedRuns}`
  if (runId === undefined) return { text: newest, values: [] }
  return { text: `${newest} WHERE run_id = $${parameter}`, values: [storedText(runId)] }
}
