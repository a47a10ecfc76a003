import { isRunFree } from '@smithers/tool-core/log'
import type {
  AttemptRow,
  ClaimRequest,
  ClaimResult,
  Fenced,
  LoopRow,
  RunRow,
  RunStore,
  TaskRow,
} from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { bindText, unbound } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/**
 * Keeps runs in the file of the log. A commit survives the end of the process; after a power failure the last tasks may
 * be run again, with the warning.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function runsOn(connection: LogConnection): RunStore {
  const run = (sql: string, ...values: BoundValue[]): void => {
    connection.prepare(sql).run(...bound(values))
  }
  const rows = (sql: string, ...values: BoundValue[]): unknown[] =>
    connection
      .prepare(sql)
      .all(...bound(values))
      .map(read)

  /** Commits a change of a run if the token still holds it, else nothing. */
  function whileHeld(
    action: string,
    runId: string,
    leaseToken: string,
    change: () => void,
  ): Fenced | Promise<Fenced> {
    return connection.write(action, () =>
      connection.atomically(() => {
        const held = connection.prepare(heldSql).get(...bound([runId, leaseToken]))
        if (held === undefined) return 'lost'
        change()
        return 'ok'
      }),
    )
  }

  return {
    claim: (request) =>
      connection.write('claim a run', () =>
        connection.atomically(() => claimRow(request, rows, run)),
      ),

    renew: (runId, leaseToken, leaseExpiresAtMs) =>
      whileHeld('renew the lease of a run', runId, leaseToken, () => {
        run(
          'UPDATE _smithers_runs SET lease_expires_at_ms = ? WHERE run_id = ?',
          leaseExpiresAtMs,
          runId,
        )
      }),

    nameWorkflow: (runId, leaseToken, workflow) =>
      whileHeld('name the workflow of a run', runId, leaseToken, () => {
        run('UPDATE _smithers_runs SET workflow = ? WHERE run_id = ?', workflow, runId)
      }),

    release: ({ runId, leaseToken, status, errorJson, nowMs }) =>
      whileHeld('end a run', runId, leaseToken, () => {
        run(releaseSql, status, errorJson, nowMs, runId)
      }),

    startAttempt: (start) =>
      whileHeld('record the start of an attempt', start.runId, start.leaseToken, () => {
        const { runId, nodeId, iteration, taskId, outputName, attempt, nowMs } = start
        run(startTaskSql, runId, nodeId, iteration, taskId, outputName, attempt, nowMs)
        run(startAttemptSql, runId, nodeId, iteration, attempt, nowMs)
      }),

    finishAttempt: (end) =>
      whileHeld('record the end of an attempt', end.runId, end.leaseToken, () => {
        const { runId, nodeId, iteration, attempt, status, outputJson, errorJson, nowMs } = end
        run(finishAttemptSql, status, errorJson, nowMs, runId, nodeId, iteration, attempt)
        let finishOrder: number | null = null
        if (status === 'finished') {
          const { finished_tasks: finished } = connection
            .prepare(countSql)
            .get(bindText(runId)) as {
            finished_tasks: number
          }
          finishOrder = finished
        }
        run(
          finishTaskSql,
          status,
          outputJson,
          errorJson,
          nowMs,
          finishOrder,
          runId,
          nodeId,
          iteration,
        )
      }),

    saveLoop: ({ runId, loopId, iteration, finished }, leaseToken) =>
      whileHeld('record the iteration of a loop', runId, leaseToken, () => {
        run(saveLoopSql, runId, loopId, iteration, finished ? 1 : 0)
      }),

    list: ({ runId, limit = 100 }) =>
      connection.read('list runs', () =>
        runId === undefined
          ? (rows(newestRunsSql, Math.min(limit, Number.MAX_SAFE_INTEGER)) as RunRow[])
          : (rows(runSql, runId) as RunRow[]),
      ),
    tasks: (runId) => connection.read('list tasks', () => rows(tasksSql, runId) as TaskRow[]),
    attempts: (runId) =>
      connection.read('list attempts', () => rows(attemptsSql, runId) as AttemptRow[]),
    loops: (runId) =>
      connection.read('list loops', () =>
        (rows(loopsSql, runId) as (LoopRow & { finished: unknown })[]).map((row): LoopRow => ({
          ...row,
          finished: Number(row.finished) === 1,
        })),
      ),
  }
}

function claimRow(
  request: ClaimRequest,
  rows: (sql: string, ...values: BoundValue[]) => unknown[],
  run: (sql: string, ...values: BoundValue[]) => void,
): ClaimResult {
  const { runId, inputJson, optionsJson, ownerId, leaseToken, leaseExpiresAtMs, nowMs } = request
  const find = (): RunRow | undefined => rows(runSql, runId)[0] as RunRow | undefined
  const found = find()
  if (found !== undefined && !isRunFree(found, nowMs)) return { ok: false, run: found }
  if (found === undefined) {
    run(createRunSql, runId, inputJson, optionsJson, nowMs, ownerId, leaseToken, leaseExpiresAtMs)
  } else {
    run(takeOverSql, inputJson, optionsJson, ownerId, leaseToken, leaseExpiresAtMs, runId)
    for (const table of ['_smithers_tasks', '_smithers_attempts']) {
      run(
        `UPDATE ${table} SET status = 'interrupted', finished_at_ms = ? WHERE run_id = ? AND status = 'running'`,
        nowMs,
        runId,
      )
    }
  }
  return { ok: true, created: found === undefined, run: find() as RunRow }
}

type BoundValue = string | number | null

function bound(values: readonly BoundValue[]): SqlValue[] {
  return values.map((value) => (typeof value === 'string' ? bindText(value) : value))
}

function read(row: unknown): unknown {
  const record = row as Readonly<Record<string, SqlValue>>
  return Object.fromEntries(Object.entries(record).map(([field, value]) => [field, unbound(value)]))
}

const heldSql = `SELECT 1 FROM _smithers_runs WHERE run_id = ? AND lease_token = ?`

const createRunSql = `INSERT INTO _smithers_runs
  (run_id, status, input_json, options_json, started_at_ms, owner_id, lease_token, lease_expires_at_ms)
  VALUES (?, 'running', ?, ?, ?, ?, ?, ?)`

const takeOverSql = `UPDATE _smithers_runs SET status = 'running', error_json = NULL, finished_at_ms = NULL,
  input_json = coalesce(input_json, ?), options_json = ?, owner_id = ?, lease_token = ?, lease_expires_at_ms = ?
  WHERE run_id = ?`

const releaseSql = `UPDATE _smithers_runs SET status = ?, error_json = ?, finished_at_ms = ?,
  owner_id = NULL, lease_token = NULL, lease_expires_at_ms = NULL WHERE run_id = ?`

const startTaskSql = `INSERT INTO _smithers_tasks
  (run_id, node_id, iteration, task_id, output_name, status, attempt, started_at_ms)
  VALUES (?, ?, ?, ?, ?, 'running', ?, ?)
  ON CONFLICT (run_id, node_id, iteration) DO UPDATE SET status = 'running', attempt = excluded.attempt,
    task_id = excluded.task_id, output_name = excluded.output_name,
    output_json = NULL, error_json = NULL, finished_at_ms = NULL, finish_order = NULL`

const startAttemptSql = `INSERT INTO _smithers_attempts (run_id, node_id, iteration, attempt, status, started_at_ms)
  VALUES (?, ?, ?, ?, 'running', ?)`

const finishAttemptSql = `UPDATE _smithers_attempts SET status = ?, error_json = ?, finished_at_ms = ?
  WHERE run_id = ? AND node_id = ? AND iteration = ? AND attempt = ?`

// The counter is kept in the run: counting the tasks each time would cost more with each.
const countSql = `UPDATE _smithers_runs SET finished_tasks = finished_tasks + 1 WHERE run_id = ?
  RETURNING finished_tasks`

const finishTaskSql = `UPDATE _smithers_tasks SET status = ?, output_json = ?, error_json = ?, finished_at_ms = ?,
  finish_order = ? WHERE run_id = ? AND node_id = ? AND iteration = ?`

const saveLoopSql = `INSERT INTO _smithers_loops (run_id, loop_id, iteration, finished) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_id, loop_id) DO UPDATE SET iteration = excluded.iteration, finished = excluded.finished`

const runsSql = `SELECT run_id AS runId, workflow, status, input_json AS inputJson, options_json AS optionsJson,
  error_json AS errorJson, started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, owner_id AS ownerId,
  lease_token AS leaseToken, lease_expires_at_ms AS leaseExpiresAtMs FROM _smithers_runs`

const runSql = `${runsSql} WHERE run_id = ?`

const newestRunsSql = `${runsSql} ORDER BY rowid DESC LIMIT ?`

const tasksSql = `SELECT run_id AS runId, node_id AS nodeId, iteration, task_id AS taskId, output_name AS outputName,
  status, attempt, output_json AS outputJson, error_json AS errorJson, started_at_ms AS startedAtMs,
  finished_at_ms AS finishedAtMs, finish_order AS finishOrder FROM _smithers_tasks WHERE run_id = ? ORDER BY rowid`

const attemptsSql = `SELECT run_id AS runId, node_id AS nodeId, iteration, attempt, status,
  started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, error_json AS errorJson
  FROM _smithers_attempts WHERE run_id = ? ORDER BY rowid`

const loopsSql = `SELECT run_id AS runId, loop_id AS loopId, iteration, finished FROM _smithers_loops WHERE run_id = ?`
