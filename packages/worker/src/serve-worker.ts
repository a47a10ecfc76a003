import { createPostgresLog, schemaOf } from '@smithers/log-postgres'
import pg from 'pg'
import { createWorker, type Worker } from './create-worker.ts'
import type { WorkerSettings } from './worker-options.ts'

/** Options of {@link serveWorker}. */
export interface ServeWorkerOptions extends WorkerSettings {
  /** `postgres://user:password@host:5432/database`; `?schema=NAME` names the schema. */
  readonly connectionString: string
  /** Called once the worker takes runs. */
  readonly onReady?: (worker: Worker) => void
}

/**
 * Works until `signal` is aborted and the worker has drained, with connections of its own to the database: one pool for
 * jobs and one for the log.
 *
 * @throws SmithersError as `createWorker` does.
 */
export async function serveWorker(options: ServeWorkerOptions): Promise<void> {
  const { connectionString, onReady, ...settings } = options
  const { concurrency = 4 } = settings
  const schema = schemaOf(options)
  const pool = new pg.Pool({
    connectionString,
    application_name: 'smithers worker',
    max: concurrency + 3,
  })
  try {
    const log = await createPostgresLog({
      connectionString,
      schema,
      maxConnections: Math.max(4, concurrency),
    })
    try {
      const worker = await createWorker({ ...settings, schema, pool, log })
      onReady?.(worker)
      await worker.done
    } finally {
      await log.close()
    }
  } finally {
    await pool.end()
  }
}
