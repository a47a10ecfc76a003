import { errorHeadLength } from '@smithers/tool-core/log'
import { createRunTables } from './run-tables.ts'
import { inWriteTransaction, queryValue } from './sqlite-database.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { unavailable } from './sqlite-failure.ts'

/** The version of the table's shape that this code writes. */
export const schemaVersion = 6

/**
 * Brings the table to this version and says whether the log may be written. A file that a newer version has shaped is
 * left untouched and can be read.
 *
 * `PRAGMA user_version` belongs to the file's owner, and the file may hold other tables, so the version has its own table.
 */
export function prepareSchema(database: SqliteDatabase): 'writable' | 'newer' {
  const found = storedVersion(database)
  if (found > schemaVersion) return 'newer'
  if (found === schemaVersion) return 'writable'
  // Another process may have migrated while this one waited for the lock; every step asks what is there.
  return inWriteTransaction(database, () => {
    if (storedVersion(database) > schemaVersion) return 'newer'
    database.exec(createTables)
    addMissingColumns(database)
    database.exec(createIndexes)
    dropOldApprovals(database)
    database.exec(createApprovalTable)
    database.exec(createRunStateTable)
    database.exec(createRunTables)
    database.exec(createBegunAttempts)
    database.exec(
      `INSERT INTO _smithers_tool_log_meta (key, value) VALUES ('schema_version', '${schemaVersion}')
       ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    )
    return 'writable'
  })
}

/** The version of the file's schema; 0 when the log has never been written by this package. */
export function storedVersion(database: SqliteDatabase): number {
  const table = queryValue(
    database,
    `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_smithers_tool_log_meta'`,
  )
  if (table === undefined) return 0
  const value = queryValue(
    database,
    `SELECT value FROM _smithers_tool_log_meta WHERE key = 'schema_version'`,
  )
  return Number(value ?? 0)
}

// The documented table, as other programs create it; what is ours comes after it as columns that they may ignore.
const createTables = `
  CREATE TABLE IF NOT EXISTS _smithers_tool_log_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS _smithers_tool_calls (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tool_name TEXT NOT NULL,
    input_json TEXT,
    output_json TEXT,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    status TEXT NOT NULL,
    error_json TEXT,
    PRIMARY KEY (run_id, node_id, iteration, attempt, seq)
  );
`

const documentedColumns = [
  'run_id',
  'node_id',
  'iteration',
  'attempt',
  'seq',
  'tool_name',
  'input_json',
  'output_json',
  'started_at_ms',
  'finished_at_ms',
  'status',
  'error_json',
]

const position = ['run_id', 'node_id', 'iteration', 'attempt', 'seq']

const addedColumns = {
  call_token: 'TEXT',
  tool_call_id: 'TEXT',
  idempotency_key: 'TEXT',
  input_hash: 'TEXT',
  occurrence: 'INTEGER NOT NULL DEFAULT 0',
  side_effect: 'INTEGER NOT NULL DEFAULT 0',
  idempotent: 'INTEGER NOT NULL DEFAULT 1',
  effect: 'TEXT',
  owner_id: 'TEXT',
  lease_expires_at_ms: 'INTEGER',
  claim: 'TEXT',
  replay_of: 'TEXT',
  from_cache: 'INTEGER NOT NULL DEFAULT 0',
  output_exact: 'INTEGER NOT NULL DEFAULT 0',
  effect_scope: 'TEXT',
  approval_id: 'TEXT',
  network_json: 'TEXT',
  trace_id: 'TEXT',
  span_id: 'TEXT',
}

function addMissingColumns(database: SqliteDatabase): void {
  const columns = database.prepare('PRAGMA table_info(_smithers_tool_calls)').all() as {
    name: string
    pk: number
  }[]
  const names = new Set(columns.map(({ name }) => name))
  const missing = documentedColumns.filter((name) => !names.has(name))
  if (missing.length > 0) {
    throw unavailable(
      'foreign-table',
      `The table _smithers_tool_calls is not a tool-call log: it has no column ${missing.join(', ')}. ` +
        'Nothing was changed. Choose another file.',
    )
  }
  for (const [name, type] of Object.entries(addedColumns)) {
    if (!names.has(name))
      database.exec(`ALTER TABLE _smithers_tool_calls ADD COLUMN ${name} ${type}`)
  }
  const isKey = position.every((name) =>
    columns.some((column) => column.name === name && column.pk > 0),
  )
  if (!isKey) {
    database.exec(
      `CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_calls_position ON _smithers_tool_calls (${position.join(', ')})`,
    )
  }
}

/** A row that uses its approval, as `usesApproval` has it: one at a time does. */
export const usesApprovalSql = `(finished_at_ms IS NULL OR (replay_of IS NULL AND (status = 'success' OR effect IS NOT 'none')))`

/** What tells the code of an error; the index of errors holds it, so that counting them reads no row. */
export const errorHeadSql: string = `substr(error_json, 1, ${errorHeadLength})`

// `inflight` covers both kinds of claim: a key that runs under one kind must not start under the other. `once` covers
// running and succeeded in a single index, because between two indexes a call that finishes can be seen by neither.
// The trigger gives a token to rows of programs that know the documented columns only.
const createIndexes = `
  UPDATE _smithers_tool_calls SET call_token = lower(hex(randomblob(16))) WHERE call_token IS NULL;
  CREATE TRIGGER IF NOT EXISTS _smithers_tool_calls_token AFTER INSERT ON _smithers_tool_calls
    WHEN new.call_token IS NULL BEGIN
      UPDATE _smithers_tool_calls SET call_token = lower(hex(randomblob(16))) WHERE rowid = new.rowid;
    END;
  CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_calls_call_token ON _smithers_tool_calls (call_token);
  CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_calls_inflight ON _smithers_tool_calls (idempotency_key)
    WHERE claim IS NOT NULL AND finished_at_ms IS NULL;
  CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_calls_once ON _smithers_tool_calls (idempotency_key)
    WHERE claim = 'once' AND (finished_at_ms IS NULL OR status = 'success');
  CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_calls_approval ON _smithers_tool_calls (approval_id)
    WHERE approval_id IS NOT NULL AND ${usesApprovalSql};
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_approvals ON _smithers_tool_calls (approval_id)
    WHERE approval_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_key ON _smithers_tool_calls (idempotency_key);
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_run_time
    ON _smithers_tool_calls (run_id, started_at_ms, seq, call_token);
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_time ON _smithers_tool_calls (started_at_ms, seq, call_token);
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_running ON _smithers_tool_calls (run_id)
    WHERE finished_at_ms IS NULL;
  CREATE INDEX IF NOT EXISTS _smithers_tool_calls_errors
    ON _smithers_tool_calls (run_id, effect, ${errorHeadSql}) WHERE status = 'error';
`

// The partial index admits one open request for a call and its arguments, however many processes make it at once.
const createApprovalTable = `
  CREATE TABLE IF NOT EXISTS _smithers_tool_approvals (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    tool_name TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    call_key TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    idempotency_key TEXT,
    input_json TEXT,
    input_schema_json TEXT,
    prompt TEXT,
    defaults_json TEXT,
    preview_json TEXT,
    status TEXT NOT NULL,
    requested_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    decided_at_ms INTEGER,
    decided_by TEXT,
    comment TEXT,
    approved_args_json TEXT
  );
  CREATE UNIQUE INDEX IF NOT EXISTS _smithers_tool_approvals_open
    ON _smithers_tool_approvals (run_id, call_key, input_hash) WHERE status NOT IN ('used', 'superseded');
  CREATE INDEX IF NOT EXISTS _smithers_tool_approvals_call ON _smithers_tool_approvals (tool_call_id);
  CREATE INDEX IF NOT EXISTS _smithers_tool_approvals_status ON _smithers_tool_approvals (status);
`

/** Earlier versions kept the use of an approval in the approval itself. Without a table, calls request approval anew. */
function dropOldApprovals(database: SqliteDatabase): void {
  const old = queryValue(
    database,
    `SELECT 1 FROM pragma_table_info('_smithers_tool_approvals') WHERE name = 'used_by'`,
  )
  if (old !== undefined) database.exec('DROP TABLE _smithers_tool_approvals')
}

/** Finds a later attempt that has begun. Takes the run, the task, the iteration and the attempt. */
export const supersededSql: string =
  'SELECT 1 FROM _smithers_begun_attempts WHERE run_id = ? AND node_id = ? AND iteration = ? AND attempt > ?'

const createBegunAttempts = `
  CREATE TABLE IF NOT EXISTS _smithers_begun_attempts (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    begun_at_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, node_id, iteration)
  );
`

const createRunStateTable = `
  CREATE TABLE IF NOT EXISTS _smithers_run_state (
    run_id TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value_json TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (run_id, key)
  );
`
