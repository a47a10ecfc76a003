import type { QueuedRun } from '@smithers/worker'
import { workerPackage } from './worker-package.ts'

/**
 * What the queue of a log in PostgreSQL knows of some runs, by their ids. Runs that have ended are in no queue. Empty
 * where `@smithers/worker` is not installed.
 */
export async function queuedRuns(
  connectionString: string,
  runIds: readonly string[],
  schema?: string,
): Promise<ReadonlyMap<string, QueuedRun>> {
  const installed = await workerPackage()
  if (installed === undefined || runIds.length === 0) return new Map()
  const [{ default: pg }, { schemaOf }] = await Promise.all([
    import('pg'),
    import('@smithers/log-postgres'),
  ])
  const pool = new pg.Pool({ connectionString, max: 1 })
  // A connection that breaks while it is idle would end the process.
  pool.on('error', () => {})
  try {
    const queued = await installed.listQueue({
      pool,
      runIds,
      limit: runIds.length,
      schema: schemaOf({ connectionString, schema }),
    })
    return new Map(queued.map((run) => [run.runId, run]))
  } finally {
    await pool.end()
  }
}
