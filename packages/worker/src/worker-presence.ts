import type { QueueTables } from './queue-tables.ts'
import type { ResolvedWorker } from './worker-options.ts'

/** The row that says that a worker lives. */
export interface WorkerPresence {
  /** Says that it still lives. */
  prolong(): Promise<void>
  /** Removes the row. An error is no harm: the row ends by its time. */
  end(): Promise<void>
}

/** Records what a worker can run, for three searches and at least half a minute beyond its last sign of life. */
export async function announceWorker(
  { pool, name, queue, workflows, sweepMs }: ResolvedWorker,
  { workers }: QueueTables,
): Promise<WorkerPresence> {
  const id = crypto.randomUUID()
  const values = [id, name, queue, Object.keys(workflows), Math.max(3 * sweepMs, 30_000)]
  const prolong = async (): Promise<void> => {
    await pool.query(
      `INSERT INTO ${workers} AS worker (worker_id, name, queue, definitions, lives_until)
        VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')
        ON CONFLICT (worker_id) DO UPDATE SET lives_until = excluded.lives_until`,
      values,
    )
  }
  await prolong()
  return {
    prolong,
    async end() {
      await pool
        .query(
          `DELETE FROM ${workers} WHERE worker_id = $1 OR lives_until < now() - interval '1 hour'`,
          [id],
        )
        .catch(() => {})
    },
  }
}
