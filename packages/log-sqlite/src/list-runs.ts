import { countErrors, defaultRunLimit, runOrder } from '@smithers/tool-core/log'
import type {
  LoggedRun,
  LoggedRunCursor,
  LoggedRunQuery,
  RunRow,
  ToolCallRow,
} from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { bindText, unbound } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'
import { errorHeadSql } from './schema.ts'

/** The newest runs: those with calls, and the recorded runs that have none. */
export function listRunsOn(connection: LogConnection, query: LoggedRunQuery): LoggedRun[] {
  const { runId, limit = defaultRunLimit, after } = query
  return connection.read('list runs', () => {
    if (runId !== undefined) return oneRun(connection, runId, after)
    const called = calledRuns(connection, after, limit + 1)
    // A recorded run without a call that is older than these is on a later page.
    const floor = called.length > limit ? called.at(-1)?.activityMs : undefined
    const uncalled = cursorsFrom(connection, uncalledSql, [
      ...beyond(after),
      floor ?? Number.MIN_SAFE_INTEGER,
      most(limit),
    ])
    return [...called, ...uncalled]
      .toSorted(runOrder)
      .slice(0, limit)
      .map((cursor) => loggedRun(connection, cursor))
  })
}

/**
 * The runs with calls by their newest one. A log of few runs is asked run by run, whatever their calls; the calls of one
 * of many runs are walked from the newest back, which ends when the page is full.
 */
function calledRuns(
  connection: LogConnection,
  after: LoggedRunCursor | undefined,
  limit: number,
): LoggedRunCursor[] {
  const runs = cursorsFrom(connection, fewRunsSql, [fewRuns + 1])
  if (runs.length > fewRuns) {
    return cursorsFrom(connection, calledSql, [...beyond(after), most(limit)])
  }
  return runs
    .filter((run) => after === undefined || runOrder(after, run) < 0)
    .toSorted(runOrder)
    .slice(0, limit)
}

const fewRuns = 1000

function oneRun(
  connection: LogConnection,
  runId: string,
  after: LoggedRunCursor | undefined,
): LoggedRun[] {
  const [cursor] = cursorsFrom(connection, activitySql, [bindText(runId), bindText(runId)])
  if (cursor === undefined || (after !== undefined && runOrder(cursor, after) <= 0)) return []
  return [loggedRun(connection, cursor)]
}

function cursorsFrom(
  connection: LogConnection,
  sql: string,
  values: readonly SqlValue[],
): LoggedRunCursor[] {
  return connection
    .prepare(sql)
    .all(...values)
    .map((columns) => {
      const { run_id: runId, activity_ms: activityMs } = columns as Record<string, SqlValue>
      return { runId: unbound(runId) as string, activityMs: activityMs as number }
    })
}

function loggedRun(connection: LogConnection, { runId, activityMs }: LoggedRunCursor): LoggedRun {
  const id = bindText(runId)
  const row = (sql: string): Record<string, SqlValue> | undefined =>
    connection.prepare(sql).get(id) as Record<string, SqlValue> | undefined
  const run = row(runSql)
  const calls = row(callsSql)
  const errors = connection.prepare(errorsSql).all(id) as Record<string, SqlValue>[]
  const firstCallAtMs = calls?.['first_ms'] as number | null
  return {
    runId,
    activityMs,
    workflow: run === undefined ? null : (unbound(run['workflow']) as string | null),
    status: run === undefined ? null : (run['status'] as RunRow['status']),
    errorJson: run === undefined ? null : (unbound(run['error_json']) as string | null),
    startedAtMs: (run?.['started_at_ms'] as number | undefined) ?? firstCallAtMs ?? activityMs,
    finishedAtMs: run === undefined ? null : (run['finished_at_ms'] as number | null),
    lastCallAtMs: calls?.['last_ms'] as number | null,
    calls: calls?.['calls'] as number,
    running: row(runningSql)?.['running'] as number,
    ...countErrors(
      errors.map(({ effect, error_head: errorHead, count }) => ({
        effect: effect as ToolCallRow['effect'],
        errorHead: errorHead as string | null,
        count: count as number,
      })),
    ),
  }
}

function beyond(after: LoggedRunCursor | undefined): SqlValue[] {
  if (after === undefined) return [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, '']
  return [after.activityMs, after.activityMs, bindText(after.runId)]
}

function most(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}

// One step of the index for each run: the next larger id, and the last moment that stands beside it.
const fewRunsSql = `WITH RECURSIVE ids(run_id) AS (
    SELECT min(run_id) FROM _smithers_tool_calls
    UNION ALL SELECT (SELECT min(run_id) FROM _smithers_tool_calls WHERE run_id > ids.run_id)
      FROM ids WHERE ids.run_id IS NOT NULL LIMIT ?)
  SELECT run_id, (SELECT max(started_at_ms) FROM _smithers_tool_calls AS call
      WHERE call.run_id = ids.run_id) AS activity_ms
  FROM ids WHERE run_id IS NOT NULL`

// The last call of each run, from the newest call back: it ends when the page is full.
const calledSql = `SELECT run_id, started_at_ms AS activity_ms FROM _smithers_tool_calls AS call
  WHERE started_at_ms <= ? AND (started_at_ms < ? OR run_id < ?)
    AND rowid = (SELECT rowid FROM _smithers_tool_calls AS later WHERE later.run_id = call.run_id
      ORDER BY started_at_ms DESC, seq DESC, call_token DESC LIMIT 1)
  ORDER BY started_at_ms DESC, run_id DESC LIMIT ?`

const uncalledSql = `SELECT run_id, started_at_ms AS activity_ms FROM _smithers_runs AS run
  WHERE started_at_ms <= ? AND (started_at_ms < ? OR run_id < ?) AND started_at_ms >= ?
    AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls AS call WHERE call.run_id = run.run_id)
  ORDER BY started_at_ms DESC, run_id DESC LIMIT ?`

const activitySql = `SELECT * FROM (
    SELECT run_id, started_at_ms AS activity_ms FROM _smithers_tool_calls WHERE run_id = ?
      ORDER BY started_at_ms DESC LIMIT 1)
  UNION ALL SELECT run_id, started_at_ms FROM _smithers_runs WHERE run_id = ? LIMIT 1`

const runSql = `SELECT workflow, status, error_json, started_at_ms, finished_at_ms
  FROM _smithers_runs WHERE run_id = ?`

const callsSql = `SELECT count(*) AS calls, min(started_at_ms) AS first_ms, max(started_at_ms) AS last_ms
  FROM _smithers_tool_calls WHERE run_id = ?`

const runningSql = `SELECT count(*) AS running FROM _smithers_tool_calls
  WHERE run_id = ? AND finished_at_ms IS NULL`

const errorsSql = `SELECT effect, ${errorHeadSql} AS error_head, count(*) AS count FROM _smithers_tool_calls
  WHERE run_id = ? AND status = 'error' GROUP BY effect, ${errorHeadSql}`
