import { SmithersError } from '@smithers/tool-core'
import { inWriteTransaction } from '@smithers/log-sqlite/connection'
import type { SqliteDatabase } from '@smithers/log-sqlite'

/** The version of the tables' shape that this code reads and writes. */
const schemaVersion = 1

/**
 * Creates the tables of the run store where they are missing.
 *
 * @throws SmithersError `WORKFLOW_STORE_UNAVAILABLE` for tables that a newer version has shaped.
 */
export function prepareRunTables(database: SqliteDatabase): void {
  // Others may be creating the tables at this moment; opening waits for them.
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number }
  database.exec('PRAGMA busy_timeout = 5000')
  try {
    createMissing(database)
  } finally {
    database.exec(`PRAGMA busy_timeout = ${timeout}`)
  }
}

function createMissing(database: SqliteDatabase): void {
  inWriteTransaction(database, () => {
    database.exec(createTables)
    const { version } = database.prepare('SELECT version FROM _smithers_run_store').get() as {
      version: number
    }
    if (version > schemaVersion) {
      throw new SmithersError(
        'WORKFLOW_STORE_UNAVAILABLE',
        `The run store has schema ${version}, written by a newer version of @smithers/workflow; this version knows ${schemaVersion}. Update the package.`,
      )
    }
  })
}

const createTables = `
  CREATE TABLE IF NOT EXISTS _smithers_run_store (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
  INSERT OR IGNORE INTO _smithers_run_store (id, version) VALUES (1, ${schemaVersion});
  CREATE TABLE IF NOT EXISTS _smithers_runs (
    run_id TEXT PRIMARY KEY,
    workflow TEXT,
    status TEXT NOT NULL,
    input_json TEXT,
    options_json TEXT NOT NULL,
    error_json TEXT,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    finished_tasks INTEGER NOT NULL DEFAULT 0,
    owner_id TEXT,
    lease_token TEXT,
    lease_expires_at_ms INTEGER
  );
  CREATE TABLE IF NOT EXISTS _smithers_tasks (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    output_name TEXT,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    output_json TEXT,
    error_json TEXT,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    place INTEGER,
    PRIMARY KEY (run_id, node_id, iteration)
  );
  CREATE TABLE IF NOT EXISTS _smithers_attempts (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    error_json TEXT,
    PRIMARY KEY (run_id, node_id, iteration, attempt)
  );
  CREATE TABLE IF NOT EXISTS _smithers_loops (
    run_id TEXT NOT NULL,
    loop_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    PRIMARY KEY (run_id, loop_id)
  );
`
