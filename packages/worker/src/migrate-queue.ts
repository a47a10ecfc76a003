import { migrate } from '@smithers/log-postgres'
import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { createQueueSql, queueTablesOf } from './queue-tables.ts'

/** Where a queue is. */
export interface QueueLocation {
  /** Connections of `pg` to the database of the log. */
  readonly pool: pg.Pool
  /** The schema of the log. Jobs are in the schema `graphile_worker`. @default 'public' */
  readonly schema?: string | undefined
}

/**
 * Creates the tables of the log, of the queue and of graphile-worker, or brings them to this version. `createWorker`
 * and `enqueueWorkflow` call it themselves; a deployment whose roles may not create tables calls it first.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, `INVALID_INPUT`
 */
export async function migrateQueue({ pool, schema = 'public' }: QueueLocation): Promise<void> {
  const tables = queueTablesOf(schema)
  tolerateBrokenConnections(pool)
  await migrate({ pool, schema })
  await runMigrations({ pgPool: pool, logger: silent })
  await pool.query(createQueueSql(tables))
}

/** A connection that breaks is replaced by the next query. Without a listener, it would end the process. */
function tolerateBrokenConnections(pool: pg.Pool): void {
  if (pool.listenerCount('error') === 0) pool.on('error', tolerate)
  if (pool.listenerCount('connect') === 0)
    pool.on('connect', (client) => client.on('error', tolerate))
}

function tolerate(): void {}

/** Migrations announce themselves on the console. */
const silent: Logger = new Logger(() => () => {})
