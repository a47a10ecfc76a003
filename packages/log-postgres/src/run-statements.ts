import type { Tables } from './tables.ts'

/** The statements of runs. Those that write while a token holds the run return a row exactly when it does. */
export interface RunStatements {
  readonly run: string
  readonly newestRuns: string
  readonly tasks: string
  readonly attempts: string
  readonly loops: string
  readonly createOrFind: string
  readonly takeOver: string
  readonly interrupt: string
  readonly renew: string
  readonly nameWorkflow: string
  readonly release: string
  readonly startAttempt: string
  readonly finishAttempt: string
  readonly saveLoop: string
}

/** @param modes How the statements commit: `commit_mode` of each. */
export function runStatements(
  tables: Tables,
  modes: { readonly relaxed: string; readonly synced: string },
): RunStatements {
  const { runs, tasks, attempts, loops } = tables
  const { relaxed, synced } = modes
  const update = (mode: string, assignments: string): string =>
    `WITH ${mode} UPDATE ${runs} SET ${assignments} FROM commit_mode
      WHERE run_id = $1 AND lease_token = $2 RETURNING 1`
  return {
    run: ofRun(runs),
    newestRuns: `SELECT * FROM ${runs} ORDER BY ordinal DESC LIMIT $1`,
    tasks: `${ofRun(tasks)} ORDER BY ordinal`,
    attempts: `${ofRun(attempts)} ORDER BY ordinal`,
    loops: ofRun(loops),

    // The created row, or the one that was there when the statement began.
    createOrFind: `WITH ${relaxed}, created AS (
        INSERT INTO ${runs} (run_id, status, owner_id, lease_token, created_by_token, lease_expires_at_ms,
          input_json, options_json, started_at_ms)
        SELECT $1::text, 'running', $2::text, $3::text, $3::text, $4::bigint, $5::text, $6::text, $7::bigint
        FROM commit_mode ON CONFLICT (run_id) DO NOTHING RETURNING *)
      SELECT true AS created, created.* FROM created
      UNION ALL SELECT false, recorded.* FROM ${runs} AS recorded WHERE run_id = $1`,

    // Only the lease that was judged: one that was renewed or taken since has a holder.
    takeOver: `WITH ${relaxed} UPDATE ${runs} SET status = 'running', error_json = NULL, finished_at_ms = NULL,
        owner_id = $2, lease_token = $3, lease_expires_at_ms = $4,
        input_json = coalesce(input_json, $5), options_json = $6
      FROM commit_mode WHERE run_id = $1 AND lease_token IS NOT DISTINCT FROM $7
        AND lease_expires_at_ms IS NOT DISTINCT FROM $8 RETURNING ${runs}.*`,

    interrupt: `WITH ${relaxed}, ${heldSql(runs, 'SHARE')},
      cut AS (UPDATE ${tasks} AS task SET status = 'interrupted', finished_at_ms = $3::bigint
        FROM commit_mode, held WHERE task.run_id = held.run_id AND status = 'running')
      UPDATE ${attempts} AS attempt SET status = 'interrupted', finished_at_ms = $3::bigint
        FROM held WHERE attempt.run_id = held.run_id AND status = 'running'`,

    renew: update(relaxed, 'lease_expires_at_ms = $3'),
    nameWorkflow: update(relaxed, 'workflow = $3'),
    release: update(
      synced,
      `status = $3, error_json = $4, finished_at_ms = $5,
        owner_id = NULL, lease_token = NULL, lease_expires_at_ms = NULL`,
    ),
    startAttempt: startAttemptSql(tables, relaxed),
    finishAttempt: finishAttemptSql(tables, relaxed),
    saveLoop: `WITH ${relaxed}, ${heldSql(runs, 'SHARE')}
      INSERT INTO ${loops} (run_id, loop_id, iteration, finished)
      SELECT held.run_id, $3, $4::bigint, $5::boolean FROM commit_mode, held
      ON CONFLICT (run_id, loop_id) DO UPDATE SET iteration = excluded.iteration, finished = excluded.finished
      RETURNING 1`,
  }
}

function ofRun(table: string): string {
  return `SELECT * FROM ${table} WHERE run_id = $1`
}

/** The run if the token holds it, locked so that it is not taken over until the statement has been committed. */
function heldSql(runs: string, strength: 'SHARE' | 'NO KEY UPDATE'): string {
  return `held AS MATERIALIZED (
    SELECT run_id FROM ${runs} WHERE run_id = $1 AND lease_token = $2 FOR ${strength})`
}

function startAttemptSql({ runs, tasks, attempts }: Tables, mode: string): string {
  return `WITH ${mode}, ${heldSql(runs, 'SHARE')},
    started AS (
      INSERT INTO ${tasks} (run_id, node_id, iteration, task_id, output_name, status, attempt, started_at_ms)
      SELECT held.run_id, $3::text, $4::bigint, $5::text, $6::text, 'running', $7::bigint, $8::bigint
      FROM commit_mode, held
      ON CONFLICT (run_id, node_id, iteration) DO UPDATE SET status = 'running', attempt = excluded.attempt,
        task_id = excluded.task_id, output_name = excluded.output_name,
        output_json = NULL, error_json = NULL, finished_at_ms = NULL, finish_order = NULL)
    INSERT INTO ${attempts} (run_id, node_id, iteration, attempt, status, started_at_ms)
    SELECT held.run_id, $3::text, $4::bigint, $7::bigint, 'running', $8::bigint FROM held
    ON CONFLICT (run_id, node_id, iteration, attempt) DO UPDATE SET status = 'running',
      started_at_ms = excluded.started_at_ms, finished_at_ms = NULL, error_json = NULL
    RETURNING 1`
}

// An attempt ends once: sent again, the statement finds no running attempt and counts none. The counter is kept in the
// run, since counting the tasks each time would cost more with each.
function finishAttemptSql({ runs, tasks, attempts }: Tables, mode: string): string {
  return `WITH ${mode}, ${heldSql(runs, 'NO KEY UPDATE')},
    ended AS (
      UPDATE ${attempts} AS attempt SET status = $6::text, error_json = $8::text, finished_at_ms = $9::bigint
      FROM commit_mode, held
      WHERE attempt.run_id = held.run_id AND node_id = $3 AND iteration = $4 AND attempt = $5
        AND status = 'running' RETURNING attempt.run_id),
    counted AS (
      UPDATE ${runs} AS run SET finished_tasks = finished_tasks + 1
      FROM ended WHERE run.run_id = ended.run_id AND $6 = 'finished' RETURNING finished_tasks),
    recorded AS (
      UPDATE ${tasks} AS task SET status = $6, output_json = $7::text, error_json = $8, finished_at_ms = $9,
        finish_order = counted.finished_tasks
      FROM ended LEFT JOIN counted ON true
      WHERE task.run_id = ended.run_id AND node_id = $3 AND iteration = $4)
    SELECT 1 FROM held`
}
