import type { RunRow } from '@smithers/tool-core'
import type { QueueLocation } from './migrate-queue.ts'
import { queueTablesOf } from './queue-tables.ts'

/** A run of a queue that has not ended. */
export interface QueuedRun {
  readonly runId: string
  readonly definition: string
  readonly queue: string
  readonly priority: number
  readonly status: RunRow['status']
  /** The worker that has it, or had it and died. */
  readonly worker: string | null
  /** Failures since a task last finished. */
  readonly failures: number
  /** Why it last failed, as JSON with `message` and mostly `code`. */
  readonly lastErrorJson: string | null
  /** Not before this time. */
  readonly runAt: Date
  /** False when no live worker knows its definition: it waits until one starts. */
  readonly hasWorker: boolean
}

/** A worker that lives. */
export interface LiveWorker {
  readonly name: string
  readonly queue: string
  readonly definitions: readonly string[]
  readonly startedAt: Date
  /** How many runs it has now. */
  readonly runs: number
}

/**
 * Runs that wait, run or will be tried again, the longest in the queue first: at most `limit` (100), and with `runIds` no
 * others. None in a schema that has no queue yet.
 */
export async function listQueue({
  pool,
  schema = 'public',
  limit = 100,
  runIds,
}: QueueLocation & {
  readonly limit?: number
  readonly runIds?: readonly string[]
}): Promise<QueuedRun[]> {
  const { queue, runs, workers } = queueTablesOf(schema)
  const { rows: tables } = await pool.query<{ exists: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS exists',
    [workers],
  )
  if (tables[0]?.exists !== true) return []
  const { rows } = await pool.query<QueuedRun>(
    `SELECT entry.run_id AS "runId", entry.definition, entry.queue, entry.priority, run.status, entry.worker,
        entry.failures, entry.last_error_json AS "lastErrorJson", entry.run_at AS "runAt",
        EXISTS (SELECT FROM ${workers} AS worker WHERE worker.queue = entry.queue
          AND entry.definition = ANY (worker.definitions) AND worker.lives_until > now()) AS "hasWorker"
      FROM ${queue} AS entry JOIN ${runs} AS run USING (run_id)
      WHERE run.status IN ('queued', 'running', 'waiting') AND ($2::text[] IS NULL OR entry.run_id = ANY ($2))
      ORDER BY entry.queued_at, entry.run_id LIMIT $1`,
    [limit, runIds ?? null],
  )
  return rows
}

/** The workers of all queues that have given a sign of life within half a minute. */
export async function listWorkers({
  pool,
  schema = 'public',
}: QueueLocation): Promise<LiveWorker[]> {
  const { workers, queue, runs } = queueTablesOf(schema)
  const { rows } = await pool.query<LiveWorker>(
    `SELECT name, queue, definitions, started_at AS "startedAt",
        (SELECT count(*)::int FROM ${queue} AS entry JOIN ${runs} AS run USING (run_id)
          WHERE entry.worker = worker.name AND run.status = 'running') AS runs
      FROM ${workers} AS worker WHERE lives_until > now() ORDER BY started_at, name`,
  )
  return rows
}
