import { prepareSchema } from './migrate.ts'
import { asLogError } from './postgres-failure.ts'
import { openPool, type PostgresPool, type PostgresRow } from './postgres-pool.ts'
import { schemaOf } from './schema-of.ts'
import { originalText } from './stored-text.ts'
import { tablesOf, type Tables } from './tables.ts'

/** One table of a log. Sizes are bytes on the disk. */
export interface TableStatus {
  readonly name: string
  /** Rows that are there. Counted in a small table; in one beyond 64 MB as the server estimates them. */
  readonly rows: number
  readonly isEstimate: boolean
  /** Old versions of rows that no vacuum has removed yet, as the server estimates them. */
  readonly deadRows: number
  /** The rows and their long values. */
  readonly tableBytes: number
  readonly indexBytes: number
}

/** A month of archived calls. */
export interface ArchivePartitionStatus extends TableStatus {
  /** Its calls started at or after this and before {@link beforeMs}. Milliseconds since the epoch. */
  readonly fromMs: number
  readonly beforeMs: number
}

/** The state of a log's database, as {@link databaseStatus} finds it. Moments are milliseconds since the epoch. */
export interface DatabaseStatus {
  readonly schema: string
  readonly schemaVersion: number
  /** As the server names it, such as `18.0`. */
  readonly serverVersion: string
  /** Of all tables and partitions with their indexes. */
  readonly totalBytes: number
  /** The tables of the log, without the partitions of the archive. */
  readonly tables: readonly TableStatus[]
  /** Oldest first. */
  readonly archivePartitions: readonly ArchivePartitionStatus[]
  /** Calls that have started and not ended. */
  readonly openCalls: number
  readonly oldestOpenCall: {
    readonly runId: string
    readonly toolName: string
    readonly startedAtMs: number
  } | null
  /** Of calls and runs that have one, the lease that ends first or has ended longest ago. */
  readonly oldestLease: {
    readonly kind: 'call' | 'run'
    readonly runId: string
    readonly ownerId: string | null
    readonly leaseExpiresAtMs: number
  } | null
}

/** Where {@link databaseStatus} looks. */
export type DatabaseStatusOptions = {
  /** The schema of the tables. @default what `?schema=NAME` of the connection string says, or `'public'` */
  readonly schema?: string
} & (
  | { readonly connectionString: string; readonly pool?: never }
  | { readonly pool: PostgresPool; readonly connectionString?: never }
)

/**
 * Tells how large the log of a database is and what is open in it. It changes nothing and needs no more than `SELECT`.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, with reason `older-schema` when the schema has no log; `INVALID_INPUT`
 */
export async function databaseStatus(options: DatabaseStatusOptions): Promise<DatabaseStatus> {
  const tables = tablesOf(schemaOf(options))
  if (options.pool !== undefined) return await statusOf(options.pool, tables)
  const { connectionString } = options
  const opened = openPool({ connectionString, maxConnections: 1, maxWaitMs })
  try {
    return await statusOf(opened.pool, tables)
  } finally {
    await opened.end()
  }
}

async function statusOf(pool: PostgresPool, tables: Tables): Promise<DatabaseStatus> {
  const schemaVersion = await prepareSchema(pool, tables, { mode: 'check', maxWaitMs })
  try {
    const sizes = await pool.query({ text: sizesSql, values: [tables.schema] })
    const counts = new Map<unknown, number>()
    for (const row of sizes.rows.filter(isSmall)) {
      const counted = await pool.query({
        text: `SELECT count(*) AS rows FROM ${String(row['qualified'])}`,
      })
      counts.set(row['name'], Number(counted.rows[0]?.['rows']))
    }
    const status = (row: PostgresRow): TableStatus => tableStatus(row, counts.get(row['name']))
    const [open] = (await pool.query({ text: openSql(tables) })).rows
    return {
      schema: tables.schema,
      schemaVersion,
      serverVersion: String(open?.['server']),
      totalBytes: sizes.rows.reduce(
        (sum, row) => sum + Number(row['table_bytes']) + Number(row['index_bytes']),
        0,
      ),
      tables: sizes.rows.filter((row) => !isPartition(row)).map(status),
      archivePartitions: sizes.rows
        .filter(isPartition)
        .map((row) => ({ ...status(row), ...boundsOf(String(row['bounds'])) }))
        .toSorted((a, b) => a.fromMs - b.fromMs),
      openCalls: Number(open?.['open_calls']),
      oldestOpenCall: oldestCallOf(open?.['oldest_call']),
      oldestLease: oldestLeaseOf(open?.['oldest_lease']),
    }
  } catch (error) {
    throw asLogError(error, 'tell the state of the database')
  }
}

// The archive itself holds nothing: its partitions do.
const sizesSql = `SELECT pg_class.relname AS name, format('%I.%I', $1::text, pg_class.relname) AS qualified,
    greatest(reltuples, n_live_tup, 0) AS estimate, coalesce(n_dead_tup, 0) AS dead_rows,
    pg_table_size(pg_class.oid) AS table_bytes, pg_indexes_size(pg_class.oid) AS index_bytes,
    CASE WHEN relispartition THEN pg_get_expr(relpartbound, pg_class.oid) END AS bounds
  FROM pg_class LEFT JOIN pg_stat_all_tables ON relid = pg_class.oid
  WHERE relnamespace = to_regnamespace(quote_ident($1)) AND relkind = 'r' AND starts_with(pg_class.relname, '_smithers_')
  ORDER BY pg_class.relname`

function openSql({ toolCalls, runs }: Tables): string {
  return `SELECT current_setting('server_version') AS server,
    (SELECT count(*) FROM ${toolCalls} WHERE finished_at_ms IS NULL) AS open_calls,
    (SELECT json_build_array(run_id, tool_name, started_at_ms) FROM ${toolCalls}
      WHERE finished_at_ms IS NULL ORDER BY started_at_ms LIMIT 1) AS oldest_call,
    (SELECT json_build_array(kind, run_id, owner_id, lease_expires_at_ms) FROM (
      SELECT 'call' AS kind, run_id, owner_id, lease_expires_at_ms FROM ${toolCalls} WHERE finished_at_ms IS NULL
      UNION ALL SELECT 'run', run_id, owner_id, lease_expires_at_ms FROM ${runs} WHERE status <> 'finished') AS leases
      WHERE lease_expires_at_ms IS NOT NULL ORDER BY lease_expires_at_ms LIMIT 1) AS oldest_lease`
}

function isPartition(row: PostgresRow): boolean {
  return row['bounds'] !== null
}

function isSmall(row: PostgresRow): boolean {
  return Number(row['table_bytes']) <= countedBytes
}

function tableStatus(row: PostgresRow, counted: number | undefined): TableStatus {
  return {
    name: String(row['name']),
    rows: counted ?? Number(row['estimate']),
    isEstimate: counted === undefined,
    deadRows: Number(row['dead_rows']),
    tableBytes: Number(row['table_bytes']),
    indexBytes: Number(row['index_bytes']),
  }
}

/** `FOR VALUES FROM ('1') TO ('2')`. */
function boundsOf(bounds: string): { readonly fromMs: number; readonly beforeMs: number } {
  const [fromMs = Number.NaN, beforeMs = Number.NaN] = [...bounds.matchAll(/-?\d+/g)].map(Number)
  return { fromMs, beforeMs }
}

function oldestCallOf(found: unknown): DatabaseStatus['oldestOpenCall'] {
  if (found === null || found === undefined) return null
  const [runId, toolName, startedAtMs] = found as [string, string, number]
  return { runId: originalText(runId), toolName: originalText(toolName), startedAtMs }
}

function oldestLeaseOf(found: unknown): DatabaseStatus['oldestLease'] {
  if (found === null || found === undefined) return null
  const [kind, runId, ownerId, leaseExpiresAtMs] = found as [
    'call' | 'run',
    string,
    string | null,
    number,
  ]
  return {
    kind,
    runId: originalText(runId),
    ownerId: ownerId === null ? null : originalText(ownerId),
    leaseExpiresAtMs,
  }
}

/** The rows of a table up to this size are counted. */
const countedBytes = 64 * 1024 * 1024

const maxWaitMs = 5000
