import { addJobs, firstKey, nextJob, nowMs } from './job-sql.ts'
import type { QueueTables } from './queue-tables.ts'
import { sweepSql } from './sweep-statement.ts'

/** The statements of a queue. Each is one transaction, so they work behind a pooler that keeps no session. */
export interface QueueStatements {
  readonly enqueue: string
  readonly run: string
  readonly begin: string
  readonly taken: string
  readonly requeue: string
  readonly leave: string
  readonly remove: string
  readonly sweep: string
  readonly forget: string
  readonly unserved: string
}

export function queueStatements(tables: QueueTables): QueueStatements {
  const { queue, runs, workers } = tables
  return {
    // $1 run, $2 definition, $3 queue, $4 priority, $5 run at, $6 input. A run that has failed or was stopped begins a new
    // series of tries; one that another process began and left is adopted, and the job of one that waits for an approval
    // does nothing until a search finds the decision.
    enqueue: `WITH created AS (
        INSERT INTO ${runs} AS run (run_id, status, input_json, options_json, started_at_ms, created_by_token)
        VALUES ($1, 'queued', $6, '{}', ${nowMs}, '')
        ON CONFLICT (run_id) DO UPDATE SET status = 'queued', error_json = NULL, finished_at_ms = NULL
          WHERE run.status IN ('failed', 'stopped') AND run.lease_token IS NULL
        RETURNING run_id),
      wanted AS (
        SELECT run_id FROM created UNION
        SELECT run_id FROM ${runs} WHERE run_id = $1 AND status IN ('queued', 'running', 'waiting')
          AND NOT EXISTS (SELECT FROM ${queue} WHERE run_id = $1)),
      queued AS (
        INSERT INTO ${queue} AS entry (run_id, definition, queue, priority, job_key, run_at)
        SELECT run_id, $2, $3, $4, ${firstKey(tables, 'wanted')}, coalesce($5::timestamptz, now()) FROM wanted
        ON CONFLICT (run_id) DO UPDATE SET definition = excluded.definition, queue = excluded.queue,
          priority = excluded.priority, run_at = excluded.run_at, failures = 0, skips = 0,
          last_error_json = NULL, worker = NULL, ${nextJob(tables, 'entry')}
        RETURNING *)
      ${addJobs(tables, 'queued')}`,

    run: `SELECT status, input_json FROM ${runs} WHERE run_id = $1`,

    // $1 run, $2 key of the job. No row for a job that another one has replaced.
    begin: `SELECT entry.failures, entry.skips, run.status, run.options_json FROM ${queue} AS entry JOIN ${runs} AS run USING (run_id)
      WHERE entry.run_id = $1 AND entry.job_key = $2`,

    taken: `UPDATE ${queue} SET worker = $3, last_error_json = NULL WHERE run_id = $1 AND job_key = $2`,

    // $3 delay in milliseconds, $4 failures, $5 the error, $6 how often workers have left the run to others.
    requeue: `WITH queued AS (
        UPDATE ${queue} AS entry SET failures = $4, last_error_json = $5, skips = $6, worker = NULL,
          run_at = now() + $3 * interval '1 millisecond', ${nextJob(tables, 'entry')}
        WHERE run_id = $1 AND job_key = $2 RETURNING *)
      ${addJobs(tables, 'queued')}`,

    leave: `UPDATE ${queue} SET worker = NULL WHERE run_id = $1 AND job_key = $2`,
    remove: `DELETE FROM ${queue} WHERE run_id = $1 AND job_key = $2`,
    sweep: sweepSql(tables),

    // An entry that was queued again meanwhile has another key and stays.
    forget: `DELETE FROM ${queue} AS entry USING (
        SELECT old.run_id, old.job_key FROM ${queue} AS old LEFT JOIN ${runs} AS run USING (run_id)
        WHERE run.run_id IS NULL OR run.status IN ('finished', 'failed', 'stopped')) AS old
      WHERE entry.run_id = old.run_id AND entry.job_key = old.job_key`,

    // $1 queue.
    unserved: `SELECT definition FROM (SELECT DISTINCT definition FROM ${queue} WHERE queue = $1) AS wanted
      WHERE NOT EXISTS (SELECT FROM ${workers} AS worker WHERE worker.queue = $1
        AND wanted.definition = ANY (worker.definitions) AND worker.lives_until > now()) ORDER BY definition LIMIT 100`,
  }
}
