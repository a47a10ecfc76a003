import { SmithersError } from '@smithers/tool-core'

/** The tables and functions that the statements of a queue name, quoted and qualified. */
export interface QueueTables {
  /** The schema of the log, unquoted. */
  readonly schema: string
  readonly queue: string
  readonly workers: string
  readonly runs: string
  readonly approvals: string
  readonly jobs: string
  readonly addJob: string
}

/**
 * All logs of a database share the schema of graphile-worker, whose first migration would end the workers of any other
 * such schema in the database. Names of tasks and keys of jobs tell the logs apart.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function queueTablesOf(schema: string): QueueTables {
  if (!/^[^\0\uFDD0]+$/.test(schema) || Buffer.byteLength(schema) > longestSchemaBytes) {
    throw new SmithersError(
      'INVALID_INPUT',
      `schema must be a name of 1 to ${longestSchemaBytes} bytes for a queue, got ${JSON.stringify(schema)}.`,
    )
  }
  const own = quoted(schema)
  return Object.freeze({
    schema,
    queue: `${own}._smithers_queue`,
    workers: `${own}._smithers_workers`,
    runs: `${own}._smithers_runs`,
    approvals: `${own}._smithers_tool_approvals`,
    jobs: 'graphile_worker.jobs',
    addJob: 'graphile_worker.add_job',
  })
}

/** Creates the tables of a queue. Safe to run again, and at once in several processes. */
export function createQueueSql({ schema, queue, workers }: QueueTables): string {
  const lock = `'${`smithers queue ${schema}`.replaceAll("'", "''")}'`
  return [
    `SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`,
    `CREATE TABLE IF NOT EXISTS ${queue} (
      run_id text COLLATE "C" PRIMARY KEY, definition text COLLATE "C" NOT NULL, queue text COLLATE "C" NOT NULL,
      priority integer NOT NULL, job integer NOT NULL DEFAULT 0, job_key text COLLATE "C" NOT NULL,
      run_at timestamptz NOT NULL, failures integer NOT NULL DEFAULT 0,
      skips integer NOT NULL DEFAULT 0, last_error_json text, decisions text,
      worker text, queued_at timestamptz NOT NULL DEFAULT now())`,
    `CREATE TABLE IF NOT EXISTS ${workers} (
      worker_id text COLLATE "C" PRIMARY KEY, name text NOT NULL, queue text COLLATE "C" NOT NULL,
      definitions text[] COLLATE "C" NOT NULL, started_at timestamptz NOT NULL DEFAULT now(),
      lives_until timestamptz NOT NULL)`,
  ].join(';\n')
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The name of a task holds the schema, too, and graphile-worker takes 128 characters. */
const longestSchemaBytes = 35
