import { setTimeout as sleep } from 'node:timers/promises'
import { asLogError, kindOf, sqlState, unavailable } from './postgres-failure.ts'
import type { PostgresPool } from './postgres-pool.ts'
import {
  documentedColumns,
  migrationSql,
  positionColumns,
  schemaVersion,
  type TakenOver,
} from './schema.ts'
import type { Tables } from './tables.ts'

/** What opening does about a schema that is missing or older. */
export type MigrationMode = 'apply' | 'check'

/**
 * Brings the schema to this version, or checks that it has it. Returns the version that is there. A newer schema is left
 * as it is and can be read.
 *
 * @param maxWaitMs How long a server that cannot be reached is waited for.
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`
 */
export async function prepareSchema(
  pool: PostgresPool,
  tables: Tables,
  { mode, maxWaitMs }: { readonly mode: MigrationMode; readonly maxWaitMs: number },
): Promise<number> {
  const deadline = performance.now() + maxWaitMs
  for (let raced = false; ;) {
    try {
      return await prepare(pool, tables, mode)
    } catch (error) {
      const hasRaced: boolean = !raced && racedStates.has(sqlState(error) ?? '')
      if (!hasRaced && (kindOf(error) === 'final' || performance.now() >= deadline)) {
        throw asLogError(error, 'be opened')
      }
      raced ||= hasRaced
      await sleep(20 + Math.random() * 80)
    }
  }
}

/** Another program made the same table or schema at the same moment: the second look finds it. */
const racedStates: ReadonlySet<string> = new Set(['23505', '42P06', '42P07', '42710'])

async function prepare(pool: PostgresPool, tables: Tables, mode: MigrationMode): Promise<number> {
  const found = await storedVersion(pool, tables)
  if (found >= schemaVersion) return found
  if (mode === 'check') {
    throw unavailable(
      'older-schema',
      `The schema ${JSON.stringify(tables.schema)} has version ${found} of the tool-call log, and this package needs ` +
        `${schemaVersion}. Call migrate() of @smithers/log-postgres with a role that may create tables.`,
    )
  }
  const takeOver = await takenOver(pool, tables)
  // Without parameters the driver sends all of it as one message, which the server runs as one transaction.
  await pool.query({ text: migrationSql(tables, takeOver) })
  return await storedVersion(pool, tables)
}

/** The version of the schema; 0 when this package has never written to it. */
async function storedVersion(pool: PostgresPool, tables: Tables): Promise<number> {
  const { rows } = await pool.query({
    text: `SELECT pg_encoding_to_char(encoding) AS encoding, to_regclass($1) IS NOT NULL AS known
      FROM pg_database WHERE datname = current_database()`,
    values: [tables.schemaVersions],
  })
  const [database] = rows
  if (database?.['encoding'] !== 'UTF8') {
    throw unavailable(
      'encoding',
      `The database has the encoding ${String(database?.['encoding'])}, which cannot hold every text. Create one with ENCODING 'UTF8'.`,
    )
  }
  if (database['known'] !== true) return 0
  const versions = await pool.query({
    text: `SELECT coalesce(max(version), 0) AS version FROM ${tables.schemaVersions}`,
  })
  return Number(versions.rows[0]?.['version'])
}

/** A table of the same name that is something else must not be changed. */
async function takenOver(pool: PostgresPool, { toolCalls }: Tables): Promise<TakenOver> {
  const columns = await pool.query({
    text: `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    values: [toolCalls],
  })
  if (columns.rows.length === 0) return { hasPosition: true }
  const names = new Set(columns.rows.map(({ name }) => name))
  const missing = documentedColumns.filter((name) => !names.has(name))
  if (missing.length > 0) {
    throw unavailable(
      'foreign-table',
      `The table ${toolCalls} is not a tool-call log: it has no column ${missing.join(', ')}. Nothing was changed. ` +
        'Choose another schema.',
    )
  }
  const keys = await pool.query({
    text: `SELECT 1 FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND indpred IS NULL
      AND (SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute
        WHERE attrelid = indrelid AND attnum = ANY(indkey)) = $2::text[]`,
    values: [toolCalls, positionColumns.toSorted()],
  })
  return { hasPosition: keys.rows.length > 0 }
}
