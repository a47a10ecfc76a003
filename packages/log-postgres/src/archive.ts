import { SmithersError } from '@smithers/tool-core/log'
import { archiveLock, createPartitionSql, monthOf } from './archive-tables.ts'
import type { LogConnection } from './log-connection.ts'
import type { PostgresRow } from './postgres-pool.ts'
import { waitingApprovalsSql } from './prune-belongings.ts'
import { storedColumns } from './schema.ts'

/** Which runs {@link PostgresLog.archive} moves. */
export interface ArchiveQuery {
  /**
   * Runs whose last call and whose own end are before this; at least a minute ago. Milliseconds since the epoch.
   *
   * @default seven days ago
   */
  readonly beforeMs?: number
}

/** What {@link PostgresLog.archive} has moved. */
export interface ArchiveResult {
  readonly runs: number
  readonly calls: number
  /** Another process is archiving: the rest was left to it. */
  readonly isBusy: boolean
}

/**
 * Moves the calls of runs that have ended into the archive, some runs at a time, each whole and in one transaction. It
 * passes the calls once, oldest first, so that open runs among old ones cost no more than their rows.
 */
export async function archiveRuns(
  connection: LogConnection,
  { beforeMs }: ArchiveQuery,
  nowMs: number,
): Promise<ArchiveResult> {
  const limitMs = beforeMs ?? nowMs - defaultAgeMs
  if (!Number.isFinite(limitMs) || limitMs > nowMs - leastAgeMs) {
    throw new SmithersError(
      'INVALID_INPUT',
      `beforeMs must be at least a minute ago (${nowMs - leastAgeMs}), got ${limitMs}. A younger run may not have ended.`,
    )
  }
  const done = { runs: 0, calls: 0 }
  const seen = new Set<string>()
  let page: Page = { runIds: [], next: [Number.MIN_SAFE_INTEGER, 0, ''] }
  while (page.next !== undefined) {
    page = await oldCalls(connection, page.next, limitMs)
    const fresh = page.runIds.filter((runId) => !seen.has(runId))
    for (const runId of fresh) seen.add(runId)
    for (let from = 0; from < fresh.length; from += mostRuns) {
      const moved = await moveRuns(connection, fresh.slice(from, from + mostRuns), limitMs, nowMs)
      if (moved === undefined) return { ...done, isBusy: true }
      done.runs += moved.runs
      done.calls += moved.calls
    }
  }
  return { ...done, isBusy: false }
}

interface Page {
  readonly runIds: readonly string[]
  /** The place of its last call; undefined when no call comes after it. */
  readonly next: readonly [startedAtMs: number, seq: number, callToken: string] | undefined
}

/** The runs of the next calls in the order of time, as they are stored. */
async function oldCalls(
  connection: LogConnection,
  after: NonNullable<Page['next']>,
  limitMs: number,
): Promise<Page> {
  const text = `SELECT run_id, started_at_ms, seq, call_token FROM ${connection.tables.toolCalls}
    WHERE (started_at_ms, seq, call_token) > ($1, $2, $3) AND started_at_ms < $4
    ORDER BY started_at_ms, seq, call_token LIMIT ${pageSize}`
  const { rows } = await connection.read('choose runs to archive', () =>
    connection.query(text, [...after, limitMs]),
  )
  const last = rows.length < pageSize ? undefined : rows.at(-1)
  return {
    runIds: [...new Set(rows.map((row) => String(row['run_id'])))],
    next: last && [Number(last['started_at_ms']), Number(last['seq']), String(last['call_token'])],
  }
}

/** Moves those of the runs that have ended. Undefined when another process holds the lock. */
async function moveRuns(
  connection: LogConnection,
  runIds: readonly string[],
  limitMs: number,
  nowMs: number,
): Promise<{ runs: number; calls: number } | undefined> {
  const { tables } = connection
  return await connection.write('archive runs', async () => {
    const days = await connection.query(
      `SELECT DISTINCT started_at_ms / ${dayMs} AS day FROM ${tables.toolCalls} WHERE run_id = ANY ($1::text[])`,
      [[...runIds]],
    )
    const months = new Map(
      days.rows
        .map((row) => monthOf(Number(row['day']) * dayMs))
        .map((month) => [month.name, month]),
    )
    for (const month of months.values()) {
      const isThere = `SELECT to_regclass($1) IS NOT NULL AS there`
      const found = await connection.query(isThere, [`${tables.archive}_${month.name}`])
      if (found.rows[0]?.['there'] !== true) {
        await connection.query(createPartitionSql(tables, month))
      }
    }
    const { rows } = await connection.query(moveSql(connection), [[...runIds], limitMs, nowMs])
    const moved: PostgresRow = rows[0] ?? {}
    if (moved['taken'] !== true) return undefined
    return { runs: Number(moved['runs']), calls: Number(moved['calls']) }
  })
}

// The lock saves work. What keeps a row from being moved twice is that it is deleted once: two statements that choose the
// same row wait for each other, and the second finds it gone.
function moveSql(connection: LogConnection): string {
  const { tables } = connection
  const { toolCalls, archive, archivedRuns, runs } = tables
  const columns = storedColumns.join(', ')
  return `WITH ${connection.commitMode(false)},
    lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${archiveLock(tables, 'archive')}) AS taken FROM commit_mode),
    ended AS MATERIALIZED (
      SELECT run_id FROM unnest($1::text[]) AS chosen (run_id), lock WHERE taken
        AND NOT EXISTS (SELECT 1 FROM ${toolCalls} AS call WHERE call.run_id = chosen.run_id
          AND (finished_at_ms IS NULL OR finished_at_ms >= $2 OR started_at_ms >= $2))
        AND NOT EXISTS (SELECT 1 FROM ${runs} AS run WHERE run.run_id = chosen.run_id
          AND (status <> 'finished' OR lease_token IS NOT NULL
            OR greatest(started_at_ms, finished_at_ms) >= $2))
        AND NOT EXISTS (SELECT 1 FROM (${waitingApprovalsSql(tables, '$3')}) AS waiting
          WHERE waiting.run_id = chosen.run_id)),
    moved AS (
      DELETE FROM ${toolCalls} AS call USING ended WHERE call.run_id = ended.run_id RETURNING call.*),
    marked AS (
      INSERT INTO ${archivedRuns} AS known (run_id, archived_at_ms, last_started_at_ms)
      SELECT run_id, $3, max(started_at_ms) FROM moved GROUP BY run_id ORDER BY run_id
      ON CONFLICT (run_id) DO UPDATE
        SET last_started_at_ms = greatest(known.last_started_at_ms, excluded.last_started_at_ms)
      RETURNING 1),
    stored AS (INSERT INTO ${archive} (${columns}) SELECT ${columns} FROM moved RETURNING 1)
    SELECT taken, (SELECT count(*) FROM marked) AS runs, (SELECT count(*) FROM stored) AS calls FROM lock`
}

/** Moves the calls of runs back to where they can be added to. Of several processes that try, one does. */
export async function restoreRun(connection: LogConnection, storedRunId: string): Promise<void> {
  const { toolCalls, archive, archivedRuns } = connection.tables
  const columns = storedColumns.join(', ')
  await connection.query(
    `WITH ${connection.commitMode(false)},
      unmarked AS (DELETE FROM ${archivedRuns} WHERE run_id = $1 RETURNING run_id),
      moved AS (DELETE FROM ${archive} AS call USING unmarked WHERE call.run_id = unmarked.run_id RETURNING call.*)
    INSERT INTO ${toolCalls} (${columns}) SELECT ${columns} FROM commit_mode, moved`,
    [storedRunId],
  )
}

const dayMs = 86_400_000
const defaultAgeMs = 7 * dayMs
/** Longer than any statement that began before and may still add to the run. */
const leastAgeMs = 60_000
const pageSize = 1000
const mostRuns = 20
