import { isRunFree } from '@smithers/tool-core/log'
import type { PruneQuery } from '@smithers/tool-core/log'
import { rowFrom } from './columns.ts'
import type { LogConnection } from './log-connection.ts'
import type { PostgresValue } from './postgres-pool.ts'
import {
  batchSize,
  belongingsOfRuns,
  type Deletion,
  oldBelongings,
  openRunsSql,
} from './prune-belongings.ts'
import { runColumns } from './run-rows.ts'
import { storedText } from './stored-text.ts'

/**
 * Removes finished rows, and then what belonged to them, in small transactions, so that no writing process waits for all
 * of them. What is old is decided once, at the beginning.
 */
export async function pruneInBatches(
  connection: LogConnection,
  query: PruneQuery,
): Promise<number> {
  const { tables } = connection
  const nowMs = connection.clock.now()
  const old = await oldRows(connection, query, nowMs)
  if (old === undefined) return 0
  let removed = await removeCalls(connection, old)
  if (old.named.length > 0) {
    removed += await removeArchived(connection, old.named)
    for (const one of belongingsOfRuns(tables, old.named)) await removeAll(connection, one)
  }
  if (old.keptFromMs > -Infinity) {
    const keptFromMs = Math.min(old.keptFromMs, Number.MAX_SAFE_INTEGER)
    for (const one of oldBelongings(tables, keptFromMs, connection.clock.now())) {
      await removeAll(connection, one)
    }
  }
  return removed
}

/**
 * Goes through the calls by their time, so that those that stay are passed once, and no further than an old one can be.
 * What ended before it began, as clocks that were set may have it, is found by an index of its own.
 */
async function removeCalls(connection: LogConnection, old: OldRows): Promise<number> {
  const { startedUpToMs } = old
  if (startedUpToMs === Infinity) return await removeWhere(connection, old, 'true', [])
  const inTime = await removeWhere(connection, old, `started_at_ms <= $1`, [
    bigintOf(startedUpToMs),
  ])
  return inTime + (await removeWhere(connection, old, 'finished_at_ms < started_at_ms', []))
}

async function removeWhere(
  connection: LogConnection,
  { isOld, values }: OldRows,
  where: string,
  further: readonly number[],
): Promise<number> {
  const { toolCalls } = connection.tables
  const parameter = (index: number): string => `$${values.length + index}`
  const text = `DELETE FROM ${toolCalls} WHERE call_token = ANY (ARRAY(
      SELECT call_token FROM ${toolCalls} WHERE started_at_ms >= ${parameter(1)} AND finished_at_ms IS NOT NULL
        AND (${isOld}) AND ${where.replace('$1', parameter(2))}
      ORDER BY started_at_ms, seq, call_token LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)) RETURNING started_at_ms`
  let removed = 0
  let passedMs = Number.MIN_SAFE_INTEGER
  for (;;) {
    const { rows } = await connection.write('remove old calls', () =>
      connection.query(text, [...values, passedMs, ...further]),
    )
    removed += rows.length
    if (rows.length < batchSize) return removed
    passedMs = Math.max(...rows.map((row) => Number(row['started_at_ms'])))
  }
}

/** The archived calls of runs that are removed whole. A run that another process removes is left to it. */
async function removeArchived(
  connection: LogConnection,
  runIds: readonly string[],
): Promise<number> {
  const { archive, archivedRuns } = connection.tables
  const text = `WITH chosen AS (SELECT run_id FROM ${archivedRuns} WHERE run_id = $1 FOR UPDATE SKIP LOCKED),
      unmarked AS (DELETE FROM ${archivedRuns} AS run USING chosen WHERE run.run_id = chosen.run_id RETURNING run.run_id),
      removed AS (DELETE FROM ${archive} AS call USING unmarked WHERE call.run_id = unmarked.run_id RETURNING 1)
    SELECT count(*) AS removed FROM removed`
  let removed = 0
  for (const runId of runIds) {
    const { rows } = await connection.write('remove archived calls', () =>
      connection.query(text, [runId]),
    )
    removed += Number(rows[0]?.['removed'])
  }
  return removed
}

async function removeAll(connection: LogConnection, { text, values }: Deletion): Promise<void> {
  for (;;) {
    const { rowCount } = await connection.write('remove old runs and values', () =>
      connection.query(text, values),
    )
    if ((rowCount ?? 0) < batchSize) return
  }
}

/** The nearest number that a column of the table can be compared with. */
function bigintOf(ms: number): number {
  return Math.floor(Math.min(Math.max(ms, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER))
}

interface OldRows {
  /** A condition on calls. */
  readonly isOld: string
  readonly values: PostgresValue[]
  /** No old row started later, unless it ended before. Milliseconds since the epoch. */
  readonly startedUpToMs: number
  /** Everything that was changed at this moment or later stays. Milliseconds since the epoch. */
  readonly keptFromMs: number
  /** Runs to remove whole. */
  readonly named: readonly string[]
}

/** The rows that any condition of the query gives up, and from when on everything else is kept. */
async function oldRows(
  connection: LogConnection,
  { finishedBeforeMs, keepRuns, maxRows, runs = [] }: PruneQuery,
  nowMs: number,
): Promise<OldRows | undefined> {
  const { tables } = connection
  const anyOf: string[] = []
  const values: PostgresValue[] = []
  const parameter = (value: PostgresValue): string => `$${values.push(value)}`
  let keptFromMs = -Infinity
  let startedUpToMs = -Infinity
  if (finishedBeforeMs !== undefined) {
    anyOf.push(`finished_at_ms < ${parameter(finishedBeforeMs)}::numeric`)
    keptFromMs = finishedBeforeMs
    startedUpToMs = finishedBeforeMs
  }
  if (keepRuns !== undefined) {
    const kept = await newestRuns(connection, keepRuns)
    startedUpToMs = Infinity
    anyOf.push(`run_id <> ALL (${parameter(kept.map(({ runId }) => runId))}::text[])`)
    if (kept.length >= keepRuns) {
      keptFromMs = Math.max(keptFromMs, kept.at(-1)?.startedAtMs ?? Infinity)
    }
  }
  if (maxRows !== undefined) {
    // The oldest row that is kept, and the newest that is too many.
    const oldest = maxRows === 0 ? undefined : await newestRow(connection, maxRows - 1)
    const boundary = await newestRow(connection, maxRows)
    if (boundary !== undefined) {
      startedUpToMs = Math.max(startedUpToMs, boundary[0])
      const place = boundary.map(parameter).join(', ')
      anyOf.push(`(started_at_ms, seq, call_token) <= (${place})`)
    }
    if (oldest !== undefined || maxRows === 0) {
      keptFromMs = Math.max(keptFromMs, oldest?.[0] ?? Infinity)
    }
  }
  const named = await withoutHeld(connection, runs, nowMs)
  if (anyOf.length === 0 && named.length === 0) return undefined
  if (named.length > 0) startedUpToMs = Infinity
  const openRuns = openRunsSql(tables, parameter(nowMs))
  const isOld =
    `((${anyOf.join(' OR ') || 'false'}) AND run_id NOT IN (${openRuns})) ` +
    `OR run_id = ANY (${parameter(named)}::text[])`
  return { isOld, values, startedUpToMs, keptFromMs, named }
}

async function newestRuns(
  connection: LogConnection,
  count: number,
): Promise<{ runId: string; startedAtMs: number }[]> {
  const text = `SELECT run_id, max(started_at_ms) AS newest FROM ${connection.tables.toolCalls}
    GROUP BY run_id ORDER BY newest DESC, run_id LIMIT $1`
  const { rows } = await connection.read('choose calls to remove', () =>
    connection.query(text, [count]),
  )
  return rows.map((row) => ({
    runId: String(row['run_id']),
    startedAtMs: Number(row['newest']),
  }))
}

/** The place of a row in the order of time, counted from the newest. */
async function newestRow(
  connection: LogConnection,
  offset: number,
): Promise<[startedAtMs: number, seq: number, callToken: string] | undefined> {
  const text = `SELECT started_at_ms, seq, call_token FROM ${connection.tables.toolCalls}
    ORDER BY started_at_ms DESC, seq DESC, call_token DESC LIMIT 1 OFFSET $1`
  const { rows } = await connection.read('choose calls to remove', () =>
    connection.query(text, [offset]),
  )
  const [row] = rows
  return row && [Number(row['started_at_ms']), Number(row['seq']), String(row['call_token'])]
}

/** The runs that no process holds, as they are stored. */
async function withoutHeld(
  connection: LogConnection,
  runs: readonly string[],
  nowMs: number,
): Promise<string[]> {
  const wanted = runs.map(storedText)
  if (wanted.length === 0) return []
  const { rows } = await connection.read('choose calls to remove', () =>
    connection.query(`SELECT * FROM ${connection.tables.runs} WHERE run_id = ANY ($1::text[])`, [
      wanted,
    ]),
  )
  const held = rows.filter((row) => !isRunFree(rowFrom(runColumns, row), nowMs))
  const heldIds = new Set(held.map((row) => row['run_id']))
  return wanted.filter((runId) => !heldIds.has(runId))
}
