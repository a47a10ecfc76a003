import { addJobs, literal, nextJob, nowMs } from './job-sql.ts'
import type { QueueTables } from './queue-tables.ts'

/**
 * $1 milliseconds after which a job that a worker has locked no longer counts for a run that the worker has not
 * claimed. One process at a time does it, and each run whose job is lost gets a new one.
 *
 * What was decided is compared with what was decided when the run was last woken, not with a time: clocks differ, and a
 * decision may be committed after the run has looked.
 */
export function sweepSql(tables: QueueTables): string {
  const { schema, queue, runs, approvals, jobs } = tables
  const lock = literal(`smithers sweep ${schema}`)
  const decided = `status IN ('approved', 'rejected', 'expired') OR expires_at_ms <= ${nowMs}`
  return `WITH sweeper AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) AS mine),
      woken AS (
        UPDATE ${runs} AS run SET status = 'queued' FROM sweeper, ${queue} AS entry, LATERAL (
          SELECT md5(string_agg(id || ' ' || status, ' ' ORDER BY id)) AS digest FROM ${approvals}
          WHERE run_id = entry.run_id AND status NOT IN ('used', 'superseded') AND (${decided})) AS decisions
        WHERE sweeper.mine AND run.run_id = entry.run_id AND run.status = 'waiting' AND run.lease_token IS NULL
          AND decisions.digest <> coalesce(entry.decisions, '')
        RETURNING run.run_id, decisions.digest),
      lost AS (
        SELECT entry.run_id FROM sweeper, ${queue} AS entry JOIN ${runs} AS run USING (run_id)
        WHERE sweeper.mine AND (run.status = 'queued' OR (run.status = 'running' AND run.lease_expires_at_ms <= ${nowMs}))
          AND NOT EXISTS (SELECT FROM ${jobs} AS job WHERE job.key = entry.job_key AND CASE
            WHEN job.locked_at IS NULL THEN job.attempts < job.max_attempts
            ELSE job.locked_at > now() - $1 * interval '1 millisecond' END)),
      queued AS (
        UPDATE ${queue} AS entry SET decisions = coalesce(due.digest, entry.decisions), run_at = now(), ${nextJob(tables, 'entry')}
        FROM (SELECT run_id, digest FROM woken UNION ALL SELECT run_id, NULL FROM lost) AS due
        WHERE entry.run_id = due.run_id RETURNING entry.*)
      ${addJobs(tables, 'queued')}`
}
