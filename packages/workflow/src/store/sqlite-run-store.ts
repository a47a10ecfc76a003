import {
  createLogConnection,
  inWriteTransaction,
  type LogConnection,
  openDatabaseFile,
} from '@smithers/log-sqlite/connection'
import type { SqliteDatabase, SqlValue } from '@smithers/log-sqlite'
import { prepareRunTables } from './run-tables.ts'
import { isUnheld } from './lease.ts'
import type {
  AttemptRow,
  ClaimRequest,
  ClaimResult,
  Fenced,
  LoopRow,
  RunRow,
  RunStore,
  TaskRow,
} from './run-store.ts'

/** Options of {@link createSqliteRunStore}. */
export interface SqliteRunStoreOptions {
  /** The file, usually the log's; created for this user alone (mode 0600) when there is none. */
  readonly path: string
  /**
   * How long a write may wait for other processes before it fails with `TOOL_LOG_UNAVAILABLE`. Milliseconds.
   *
   * @default 5_000
   */
  readonly maxWaitMs?: number
}

/**
 * Opens the run store of a SQLite file: tables `_smithers_runs`, `_smithers_tasks`, `_smithers_attempts` and
 * `_smithers_loops`, beside the log's. A commit survives the end of the process; after a power failure the last tasks
 * may be run again, with the warning.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` when the file cannot be opened, is no database, or is locked too long.
 */
export function createSqliteRunStore({ path, maxWaitMs = 5000 }: SqliteRunStoreOptions): RunStore {
  const database = openDatabaseFile(path)
  try {
    const connection = createLogConnection({
      database,
      durability: 'relaxed',
      maxWaitMs,
      closeDatabase: true,
    })
    prepareRunTables(database)
    return storeOn(connection, database, path !== ':memory:')
  } catch (error) {
    database.close()
    throw error
  }
}

function storeOn(connection: LogConnection, database: SqliteDatabase, onDisk: boolean): RunStore {
  const run = (sql: string, ...values: SqlValue[]): number =>
    Number(connection.prepare(sql).run(...values).changes)

  /** Commits a change of a run if the token still holds it, else nothing. */
  function whileHeld(
    action: string,
    runId: string,
    leaseToken: string,
    change: () => void,
  ): Fenced | Promise<Fenced> {
    return connection.write(action, () =>
      inWriteTransaction(database, () => {
        const held = connection.prepare(heldSql).get(runId, leaseToken)
        if (held === undefined) return 'lost'
        change()
        return 'ok'
      }),
    )
  }

  return {
    name: 'sqlite',
    capabilities: { durable: onDisk, multiProcess: onDisk },

    claim: (request) =>
      connection.write('claim a run', () =>
        inWriteTransaction(database, () => claimRow(request, connection, run)),
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
        let place: number | null = null
        if (status === 'finished') {
          const { finished_tasks: finished } = connection.prepare(countSql).get(runId) as {
            finished_tasks: number
          }
          place = finished
        }
        run(finishTaskSql, status, outputJson, errorJson, nowMs, place, runId, nodeId, iteration)
      }),

    saveLoop: ({ runId, loopId, iteration, finished }, leaseToken) =>
      whileHeld('record the iteration of a loop', runId, leaseToken, () => {
        run(saveLoopSql, runId, loopId, iteration, finished ? 1 : 0)
      }),

    runs: ({ runId, limit = 100 } = {}) =>
      connection.read('list runs', () =>
        runId === undefined
          ? (connection.prepare(`${runsSql} ORDER BY rowid DESC LIMIT ?`).all(limit) as RunRow[])
          : (connection.prepare(`${runsSql} WHERE run_id = ?`).all(runId) as RunRow[]),
      ),
    tasks: (runId) =>
      connection.read('list tasks', () => connection.prepare(tasksSql).all(runId) as TaskRow[]),
    attempts: (runId) =>
      connection.read(
        'list attempts',
        () => connection.prepare(attemptsSql).all(runId) as AttemptRow[],
      ),
    loops: (runId) =>
      connection.read('list loops', () =>
        (connection.prepare(loopsSql).all(runId) as (LoopRow & { finished: unknown })[]).map(
          (row): LoopRow => ({ ...row, finished: Number(row.finished) === 1 }),
        ),
      ),
    close: () => connection.close(),
  }
}

function claimRow(
  request: ClaimRequest,
  connection: LogConnection,
  run: (sql: string, ...values: SqlValue[]) => number,
): ClaimResult {
  const { runId, inputJson, optionsJson, ownerId, leaseToken, leaseExpiresAtMs, nowMs } = request
  const find = (): RunRow | undefined =>
    connection.prepare(`${runsSql} WHERE run_id = ?`).get(runId) as RunRow | undefined
  const found = find()
  if (found !== undefined && !isUnheld(found, nowMs)) return { ok: false, run: found }
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
    output_json = NULL, error_json = NULL, finished_at_ms = NULL, place = NULL`

const startAttemptSql = `INSERT INTO _smithers_attempts (run_id, node_id, iteration, attempt, status, started_at_ms)
  VALUES (?, ?, ?, ?, 'running', ?)`

const finishAttemptSql = `UPDATE _smithers_attempts SET status = ?, error_json = ?, finished_at_ms = ?
  WHERE run_id = ? AND node_id = ? AND iteration = ? AND attempt = ?`

// The counter is kept in the run: counting the tasks each time would cost more with each.
const countSql = `UPDATE _smithers_runs SET finished_tasks = finished_tasks + 1 WHERE run_id = ?
  RETURNING finished_tasks`

const finishTaskSql = `UPDATE _smithers_tasks SET status = ?, output_json = ?, error_json = ?, finished_at_ms = ?,
  place = ? WHERE run_id = ? AND node_id = ? AND iteration = ?`

const saveLoopSql = `INSERT INTO _smithers_loops (run_id, loop_id, iteration, finished) VALUES (?, ?, ?, ?)
  ON CONFLICT (run_id, loop_id) DO UPDATE SET iteration = excluded.iteration, finished = excluded.finished`

const runsSql = `SELECT run_id AS runId, workflow, status, input_json AS inputJson, options_json AS optionsJson,
  error_json AS errorJson, started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, owner_id AS ownerId,
  lease_token AS leaseToken, lease_expires_at_ms AS leaseExpiresAtMs FROM _smithers_runs`

const tasksSql = `SELECT run_id AS runId, node_id AS nodeId, iteration, task_id AS taskId, output_name AS outputName,
  status, attempt, output_json AS outputJson, error_json AS errorJson, started_at_ms AS startedAtMs,
  finished_at_ms AS finishedAtMs, place FROM _smithers_tasks WHERE run_id = ? ORDER BY rowid`

const attemptsSql = `SELECT run_id AS runId, node_id AS nodeId, iteration, attempt, status,
  started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, error_json AS errorJson
  FROM _smithers_attempts WHERE run_id = ? ORDER BY rowid`

const loopsSql = `SELECT run_id AS runId, loop_id AS loopId, iteration, finished FROM _smithers_loops WHERE run_id = ?`
