import { quoteLiteral, type Tables } from './tables.ts'

/**
 * Creates the archive: the calls of runs that have ended, by the month of their start, and which runs those are. A
 * unique index over partitions would have to hold the time, so the archive cannot claim a key or a position: that is
 * what the table of the calls is for.
 *
 * @param columns The columns of a call that belong to the log.
 */
export function createArchiveTables(tables: Tables, columns: readonly string[]): string[] {
  const { toolCalls, archive, archivedRuns, allCalls } = tables
  const index = (name: string, rest: string): string =>
    `CREATE INDEX IF NOT EXISTS _smithers_tool_calls_archive_${name} ON ${archive} ${rest}`
  const selected = columns.join(', ')
  return [
    `CREATE TABLE IF NOT EXISTS ${archive} (LIKE ${toolCalls} INCLUDING STORAGE) PARTITION BY RANGE (started_at_ms)`,
    index('run_time', '(run_id, started_at_ms)'),
    index('key', '(idempotency_key)'),
    index('token', 'USING hash (call_token)'),
    index('approvals', '(approval_id) WHERE approval_id IS NOT NULL'),
    index('time', 'USING brin (started_at_ms)'),
    `CREATE TABLE IF NOT EXISTS ${archivedRuns} (
      run_id text COLLATE "C" PRIMARY KEY, archived_at_ms bigint NOT NULL, last_started_at_ms bigint NOT NULL)`,
    `CREATE INDEX IF NOT EXISTS _smithers_archived_runs_last ON ${archivedRuns} (last_started_at_ms)`,
    `CREATE OR REPLACE VIEW ${allCalls} AS
      SELECT ${selected} FROM ${toolCalls} UNION ALL SELECT ${selected} FROM ${archive}`,
  ]
}

/**
 * Creates the partition of a month, in one transaction. It is attached when it is complete, since creating it in place
 * would keep every start waiting for the readers of the archive.
 */
export function createPartitionSql(tables: Tables, month: ArchiveMonth): string {
  const partition = partitionOf(tables, month)
  // The catalog itself is read: a name is looked up in a cache that may not know what the lock was waited for.
  return `SELECT pg_advisory_xact_lock(${archiveLock(tables, 'partitions')});
    DO $do$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = ${quoteLiteral(tables.schema)} AND relname = '_smithers_tool_calls_archive_${month.name}') THEN
      CREATE TABLE ${partition} (LIKE ${tables.archive} INCLUDING ALL)
        WITH (toast_tuple_target = 512, autovacuum_vacuum_insert_scale_factor = 0.05);
      ALTER TABLE ${tables.archive} ATTACH PARTITION ${partition}
        FOR VALUES FROM (${month.fromMs}) TO (${month.beforeMs});
    END IF; END $do$`
}

/** A month of UTC. Milliseconds since the epoch. */
export interface ArchiveMonth {
  readonly name: string
  readonly fromMs: number
  readonly beforeMs: number
}

/** The month of a moment. */
export function monthOf(ms: number): ArchiveMonth {
  const date = new Date(ms)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    name: date.toISOString().slice(0, -17).replaceAll('-', '_'),
    fromMs: Date.UTC(year, month),
    beforeMs: Date.UTC(year, month + 1),
  }
}

function partitionOf({ archive }: Tables, { name }: ArchiveMonth): string {
  return `${archive}_${name}`
}

/** The key of an advisory lock of a schema, as SQL. */
export function archiveLock({ schema }: Tables, purpose: 'archive' | 'partitions'): string {
  return `hashtextextended(${quoteLiteral(`smithers ${purpose} ${schema}`)}, 0)`
}
