import { errorHeadLength } from '@smithers/tool-core/log'
import { createArchiveTables } from './archive-tables.ts'
import { createRunTables } from './run-tables.ts'
import { quoteIdentifier, quoteLiteral, type Tables } from './tables.ts'

/** The version of the schema that this code writes. */
export const schemaVersion: number = 2

/** The columns that every program may rely on. */
export const documentedColumns: readonly string[] = [
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

/** What makes a call's place in the log: no two rows share it. */
export const positionColumns: readonly string[] = [
  'run_id',
  'node_id',
  'iteration',
  'attempt',
  'seq',
]

/** What is known of a table of another program that the log takes over. */
export interface TakenOver {
  /** It has a key over {@link positionColumns}, or there is no table yet. */
  readonly hasPosition: boolean
}

/** A row that uses its approval, as `usesApproval` has it: one at a time does. */
export const usesApprovalSql: string =
  "(finished_at_ms IS NULL OR (replay_of IS NULL AND (status = 'success' OR effect IS DISTINCT FROM 'none')))"

/** What tells the code of an error; the index of errors holds it, so that counting them reads no row. */
export const errorHeadSql: string = `left(error_json, ${errorHeadLength})`

/**
 * Brings a schema to {@link schemaVersion}: statements that are sent together and are one transaction. Every step asks
 * what is there, and the lock, which ends with the transaction, lets one process at a time do it.
 */
export function migrationSql(tables: Tables, { hasPosition }: TakenOver): string {
  const { schema, schemaVersions } = tables
  return [
    `SELECT pg_advisory_xact_lock(hashtextextended(${quoteLiteral(`smithers ${schema}`)}, 0))`,
    `DO $do$ BEGIN IF to_regnamespace(${quoteLiteral(quoteIdentifier(schema))}) IS NULL THEN
      CREATE SCHEMA ${quoteIdentifier(schema)}; END IF; END $do$`,
    `CREATE TABLE IF NOT EXISTS ${schemaVersions} (
      version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
    ...createCallTable(tables, hasPosition),
    ...createArchiveTables(tables, storedColumns),
    ...[tables.toolCalls, tables.archive].map(compressWithLz4),
    ...createApprovalTable(tables),
    // Rows are locked by every start and changed by every attempt, so there is room for changes within the page.
    `CREATE TABLE IF NOT EXISTS ${tables.begunAttempts} (
      run_id ${identifier} NOT NULL, node_id ${identifier} NOT NULL, iteration bigint NOT NULL, attempt bigint NOT NULL,
      begun_at_ms bigint NOT NULL, PRIMARY KEY (run_id, node_id, iteration)) WITH (fillfactor = 70)`,
    `CREATE TABLE IF NOT EXISTS ${tables.runState} (
      run_id ${identifier} NOT NULL, key ${identifier} NOT NULL, version bigint NOT NULL, value_json text NOT NULL,
      updated_at_ms bigint NOT NULL, PRIMARY KEY (run_id, key))`,
    ...createRunTables(tables, identifier),
    `INSERT INTO ${schemaVersions} (version) VALUES (${schemaVersion}) ON CONFLICT DO NOTHING`,
  ].join(';\n')
}

/** Byte order, which no change of the system's collations moves. */
const identifier = 'text COLLATE "C"'

// The documented table, as other programs create it; what is ours comes after it as columns that they may ignore. The
// token has a default for the rows of programs that know the documented columns only.
function createCallTable({ toolCalls }: Tables, hasPosition: boolean): string[] {
  const index = (name: string, rest: string): string =>
    `INDEX IF NOT EXISTS _smithers_tool_calls_${name} ON ${toolCalls} ${rest}`
  return [
    `CREATE TABLE IF NOT EXISTS ${toolCalls} (
      run_id ${identifier} NOT NULL, node_id ${identifier} NOT NULL, iteration bigint NOT NULL DEFAULT 0,
      attempt bigint NOT NULL, seq bigint NOT NULL, tool_name ${identifier} NOT NULL,
      input_json text, output_json text, started_at_ms bigint NOT NULL, finished_at_ms bigint,
      status text NOT NULL, error_json text,
      PRIMARY KEY (${positionColumns.join(', ')}))`,
    `ALTER TABLE ${toolCalls} ${Object.entries(addedColumns)
      .map(([name, type]) => `ADD COLUMN IF NOT EXISTS ${name} ${type}`)
      .join(', ')}`,
    `ALTER TABLE ${toolCalls} SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, toast_tuple_target = 512)`,
    ...(hasPosition
      ? []
      : [`CREATE UNIQUE ${index('position', `(${positionColumns.join(', ')})`)}`]),
    `CREATE UNIQUE ${index('call_token', '(call_token)')}`,
    // Both kinds of claim: a key that runs under one kind must not start under the other.
    `CREATE UNIQUE ${index('inflight', '(idempotency_key) WHERE claim IS NOT NULL AND finished_at_ms IS NULL')}`,
    // Running and succeeded in one index: between two, a call that finishes can be seen by neither.
    `CREATE UNIQUE ${index('once', "(idempotency_key) WHERE claim = 'once' AND (finished_at_ms IS NULL OR status = 'success')")}`,
    // Two calls that each did not know the other have the same number: one of them is refused.
    `CREATE UNIQUE ${index('key', '(idempotency_key, key_use)')}`,
    `CREATE UNIQUE ${index('approval', `(approval_id) WHERE approval_id IS NOT NULL AND ${usesApprovalSql}`)}`,
    `CREATE ${index('approvals', '(approval_id) WHERE approval_id IS NOT NULL')}`,
    `CREATE ${index('run_time', '(run_id, started_at_ms, seq, call_token)')}`,
    `CREATE ${index('time', '(started_at_ms, seq, call_token)')}`,
    `CREATE ${index('running', '(run_id) WHERE finished_at_ms IS NULL')}`,
    // Clocks that were set: a prune by the end of calls looks for these apart.
    `CREATE ${index('backward', '(started_at_ms, seq, call_token) WHERE finished_at_ms < started_at_ms')}`,
    `CREATE ${index('errors', `(run_id, effect, ${errorHeadSql}) WHERE status = 'error'`)}`,
  ]
}

const addedColumns: Readonly<Record<string, string>> = {
  call_token: `${identifier} NOT NULL DEFAULT gen_random_uuid()::text`,
  tool_call_id: identifier,
  idempotency_key: identifier,
  key_use: 'bigint',
  input_hash: identifier,
  occurrence: 'bigint NOT NULL DEFAULT 0',
  side_effect: 'boolean NOT NULL DEFAULT false',
  idempotent: 'boolean NOT NULL DEFAULT true',
  effect: 'text',
  owner_id: 'text',
  lease_expires_at_ms: 'bigint',
  claim: 'text',
  replay_of: identifier,
  from_cache: 'boolean NOT NULL DEFAULT false',
  output_exact: 'boolean NOT NULL DEFAULT false',
  effect_scope: 'text',
  approval_id: identifier,
  network_json: 'text',
  trace_id: 'text',
  span_id: 'text',
}

/** All columns of a call that are the log's own. */
export const storedColumns: readonly string[] = [...documentedColumns, ...Object.keys(addedColumns)]

/** The long texts of a call. A server that was built without lz4, or is too old to be asked, compresses as it can. */
function compressWithLz4(table: string): string {
  const columns = ['input_json', 'output_json', 'error_json', 'network_json']
  const alter = columns.map((name) => `ALTER COLUMN ${name} SET COMPRESSION lz4`).join(', ')
  return `DO $do$ BEGIN EXECUTE ${quoteLiteral(`ALTER TABLE ${table} ${alter}`)};
    EXCEPTION WHEN feature_not_supported OR invalid_parameter_value OR syntax_error THEN NULL; END $do$`
}

// A call and its arguments have one open request, and a call has one that waits or is approved, however many processes
// make them at once.
function createApprovalTable({ toolApprovals }: Tables): string[] {
  const index = (name: string, rest: string): string =>
    `INDEX IF NOT EXISTS _smithers_tool_approvals_${name} ON ${toolApprovals} ${rest}`
  return [
    `CREATE TABLE IF NOT EXISTS ${toolApprovals} (
      id ${identifier} PRIMARY KEY, run_id ${identifier} NOT NULL, node_id ${identifier} NOT NULL,
      iteration bigint NOT NULL, attempt bigint NOT NULL, tool_name ${identifier} NOT NULL,
      tool_call_id ${identifier} NOT NULL, call_key ${identifier} NOT NULL, input_hash ${identifier} NOT NULL,
      idempotency_key ${identifier}, input_json text, input_schema_json text, prompt text, defaults_json text,
      preview_json text, status text NOT NULL, requested_at_ms bigint NOT NULL, expires_at_ms bigint,
      decided_at_ms bigint, decided_by text, comment text, approved_args_json text,
      ordinal bigint GENERATED ALWAYS AS IDENTITY)`,
    `CREATE UNIQUE ${index('open', "(run_id, call_key, input_hash) WHERE status NOT IN ('used', 'superseded')")}`,
    `CREATE UNIQUE ${index('undone', "(run_id, call_key) WHERE status IN ('pending', 'approved')")}`,
    `CREATE ${index('call', '(tool_call_id)')}`,
    `CREATE ${index('status', '(status)')}`,
    `CREATE ${index('newest', '(ordinal)')}`,
  ]
}
