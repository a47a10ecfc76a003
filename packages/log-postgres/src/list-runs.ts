import { countErrors, defaultRunLimit, runOrder } from '@smithers/tool-core/log'
import type {
  LoggedRun,
  LoggedRunCursor,
  LoggedRunQuery,
  RunRow,
  ToolCallRow,
} from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import type { PostgresRow, PostgresValue } from './postgres-pool.ts'
import { errorHeadSql } from './schema.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Tables } from './tables.ts'

/** The newest runs: walks the calls from the newest one back, and the recorded runs that have none. */
export function listRunsOn(connection: LogConnection, query: LoggedRunQuery): Promise<LoggedRun[]> {
  return connection.read('list runs', async () => {
    const page = await cursorsOf(connection, query)
    if (page.length === 0) return []
    const sql = statements(tablesFor(connection, query))
    const ids = [page.map(({ runId }) => storedText(runId))]
    const [runs, calls, errors] = await Promise.all(
      [sql.runs, sql.calls, sql.errors].map(
        async (text) => (await connection.query(text, ids)).rows,
      ),
    )
    return page.map((cursor) => {
      const ofRun = (rows: readonly PostgresRow[] = []): PostgresRow[] =>
        rows.filter((row) => originalText(String(row['run_id'])) === cursor.runId)
      return loggedRun(cursor, ofRun(runs)[0], ofRun(calls)[0], ofRun(errors))
    })
  })
}

async function cursorsOf(
  connection: LogConnection,
  query: LoggedRunQuery,
): Promise<LoggedRunCursor[]> {
  const { runId, limit = defaultRunLimit, after } = query
  const sql = statements(tablesFor(connection, query))
  const ask = async (text: string, values: PostgresValue[]): Promise<LoggedRunCursor[]> =>
    (await connection.query(text, values)).rows.map((row) => ({
      runId: originalText(String(row['run_id'])),
      activityMs: Number(row['activity_ms']),
    }))
  if (runId !== undefined) {
    const found = await ask(sql.activity, [storedText(runId)])
    return found.filter((cursor) => after === undefined || runOrder(cursor, after) > 0)
  }
  const beyond =
    after === undefined
      ? [Number.MAX_SAFE_INTEGER, '']
      : [after.activityMs, storedText(after.runId)]
  const most = Math.min(limit, Number.MAX_SAFE_INTEGER - 1)
  const called = await ask(sql.called, [...beyond, most + 1])
  // A recorded run without a call that is older than these is on a later page.
  const floor = called.length > limit ? called.at(-1)?.activityMs : undefined
  const uncalled = await ask(sql.uncalled, [...beyond, floor ?? Number.MIN_SAFE_INTEGER, most])
  return [...called, ...uncalled].toSorted(runOrder).slice(0, limit)
}

/** One run is found in the archive as well. */
function tablesFor({ tables }: LogConnection, { runId }: LoggedRunQuery): Tables {
  return runId === undefined ? tables : { ...tables, toolCalls: tables.allCalls }
}

function loggedRun(
  cursor: LoggedRunCursor,
  run: PostgresRow | undefined,
  calls: PostgresRow | undefined,
  errors: readonly PostgresRow[],
): LoggedRun {
  return {
    ...cursor,
    workflow: textOf(run?.['workflow']),
    status: (run?.['status'] as RunRow['status'] | undefined) ?? null,
    errorJson: textOf(run?.['error_json']),
    startedAtMs:
      numberOf(run?.['started_at_ms']) ?? numberOf(calls?.['first_ms']) ?? cursor.activityMs,
    finishedAtMs: numberOf(run?.['finished_at_ms']),
    lastCallAtMs: numberOf(calls?.['last_ms']),
    calls: numberOf(calls?.['calls']) ?? 0,
    running: numberOf(calls?.['running']) ?? 0,
    ...countErrors(
      errors.map((row) => ({
        effect: row['effect'] as ToolCallRow['effect'],
        errorHead: row['error_head'] as string | null,
        count: Number(row['count']),
      })),
    ),
  }
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : originalText(value as string)
}

function numberOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

function statements({
  toolCalls,
  archivedRuns,
  runs,
}: Tables): Record<'called' | 'uncalled' | 'activity' | 'runs' | 'calls' | 'errors', string> {
  const beyond = `started_at_ms <= $1 AND (started_at_ms < $1 OR run_id < $2)`
  return {
    // The last call of each run, from the newest call back: it ends when the page is full. The inner limit keeps the
    // planner from joining whole tables.
    called: `SELECT run_id, started_at_ms AS activity_ms FROM ${toolCalls} AS call
      CROSS JOIN LATERAL (SELECT call_token AS last_token FROM ${toolCalls} AS later
        WHERE later.run_id = call.run_id
        ORDER BY later.started_at_ms DESC, later.seq DESC, later.call_token DESC LIMIT 1) AS last
      WHERE ${beyond} AND call_token = last_token
      ORDER BY started_at_ms DESC, run_id DESC LIMIT $3`,
    uncalled: `SELECT run_id, started_at_ms AS activity_ms FROM ${runs} AS run
      CROSS JOIN LATERAL (SELECT EXISTS (SELECT 1 FROM ${toolCalls} AS call WHERE call.run_id = run.run_id)
        OR EXISTS (SELECT 1 FROM ${archivedRuns} AS gone WHERE gone.run_id = run.run_id) AS has_calls OFFSET 0) AS asked
      WHERE ${beyond} AND started_at_ms >= $3 AND NOT has_calls
      ORDER BY started_at_ms DESC, run_id DESC LIMIT $4`,
    activity: `(SELECT run_id, started_at_ms AS activity_ms FROM ${toolCalls} WHERE run_id = $1
        ORDER BY started_at_ms DESC LIMIT 1)
      UNION ALL (SELECT run_id, started_at_ms FROM ${runs} WHERE run_id = $1) LIMIT 1`,
    runs: `SELECT run_id, workflow, status, error_json, started_at_ms, finished_at_ms
      FROM ${runs} WHERE run_id = ANY ($1)`,
    calls: `SELECT run_id, count(*) AS calls, min(started_at_ms) AS first_ms, max(started_at_ms) AS last_ms,
        (SELECT count(*) FROM ${toolCalls} AS open WHERE open.run_id = call.run_id
          AND finished_at_ms IS NULL) AS running
      FROM ${toolCalls} AS call WHERE run_id = ANY ($1) GROUP BY run_id`,
    errors: `SELECT run_id, effect, ${errorHeadSql} AS error_head, count(*) AS count FROM ${toolCalls}
      WHERE run_id = ANY ($1) AND status = 'error' GROUP BY run_id, effect, ${errorHeadSql}`,
  }
}
