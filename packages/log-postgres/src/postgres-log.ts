import type { ApprovalStore, RunStateStore, RunStore, ToolCallLog } from '@smithers/tool-core/log'
import { type ArchiveQuery, type ArchiveResult, archiveRuns } from './archive.ts'
import { approvalsOn } from './approvals.ts'
import { beginAttemptsOn } from './begin-attempts.ts'
import { callFrom, finishedAssignments, finishedValues, selectedColumns } from './call-rows.ts'
import { dropArchived, type DropArchivedQuery, type DropArchivedResult } from './drop-archived.ts'
import { listCalls } from './list-calls.ts'
import { listRunsOn } from './list-runs.ts'
import { createLogConnection, type LogConnection } from './log-connection.ts'
import { prepareSchema } from './migrate.ts'
import { poolFor, type PostgresLogOptions, resolveSettings } from './postgres-log-options.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { pruneInBatches } from './prune.ts'
import { recoverOrphans } from './recover.ts'
import { runStateOn } from './run-state.ts'
import { runsOn } from './runs.ts'
import { searchOn } from './search.ts'
import { schemaVersion } from './schema.ts'
import { startCallsOn } from './start-calls.ts'
import { storedText } from './stored-text.ts'
import { type Tables, tablesOf } from './tables.ts'

/** A {@link ToolCallLog} in a PostgreSQL database, with approvals, state and runs. */
export interface PostgresLog extends ToolCallLog {
  readonly listRuns: NonNullable<ToolCallLog['listRuns']>
  readonly search: NonNullable<ToolCallLog['search']>
  readonly version: NonNullable<ToolCallLog['version']>
  readonly approvals: ApprovalStore
  readonly state: RunStateStore
  readonly runs: RunStore
  /**
   * Moves the calls of runs that have ended into the archive, so that the table in which calls start stays small: runs
   * that are finished, or are not recorded, without a running call, a pending approval or an unused one. A run that can
   * be resumed stays: one that is queued, waits, failed or was stopped. Archived calls are listed as before. A run that is resumed is moved back by its first call, and a key that an archived
   * call used stays used.
   *
   * Each run is moved in one transaction. Of several processes that archive at once one does, and the others return.
   *
   * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, with reason `permission-denied` when the role may not create the
   *   partition of a month; `INVALID_INPUT` when `beforeMs` is less than a minute ago.
   */
  archive(query?: ArchiveQuery): Promise<ArchiveResult>
  /**
   * Drops the months of the archive that have ended before a moment, and then what belonged to runs of which no call is
   * left: approvals, values, records. It costs the same however many calls they hold.
   *
   * @throws SmithersError `TOOL_LOG_UNAVAILABLE`
   */
  dropArchived(query: DropArchivedQuery): Promise<DropArchivedResult>
  /** The server's time, as this process estimates it: milliseconds since the epoch. */
  now(): number
}

/**
 * Opens the tool-call log of a PostgreSQL database, table `_smithers_tool_calls`. Any number of processes on any number
 * of machines may use it at once. An existing table with the twelve documented columns gets the missing ones; a schema
 * that a newer version has shaped can only be listed.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` when the server cannot be reached or the tables cannot be used, with a
 *   `details.reason`; also from the methods. `INVALID_INPUT` for options.
 */
export async function createPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const settings = resolveSettings(options)
  const { durability, prepare, maxWaitMs } = settings
  const tables = tablesOf(settings.schema)
  const opened = poolFor(options, maxWaitMs)
  try {
    const mode = settings.migrate ? 'apply' : 'check'
    const found = await prepareSchema(opened.pool, tables, { mode, maxWaitMs })
    const newerSchema = found > schemaVersion ? { found, known: schemaVersion } : undefined
    const connection = createLogConnection({
      opened,
      tables,
      durability,
      prepare,
      maxWaitMs,
      newerSchema,
    })
    await connection.read('read the clock of the server', () => connection.clock.ask())
    return logOn(connection)
  } catch (error) {
    await opened.end()
    throw error
  }
}

/**
 * Brings the tables to this version and returns it, for a deployment whose workers open the log with `migrate: false`.
 * Several at once are no harm.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, `INVALID_INPUT`
 */
export async function migrate(
  options: { readonly schema?: string } & (
    | { readonly connectionString: string; readonly pool?: never }
    | { readonly pool: PostgresPool; readonly connectionString?: never }
  ),
): Promise<number> {
  const { schema, maxWaitMs } = resolveSettings(options)
  const tables: Tables = tablesOf(schema)
  const opened = poolFor(options, maxWaitMs)
  try {
    return await prepareSchema(opened.pool, tables, { mode: 'apply', maxWaitMs })
  } finally {
    await opened.end()
  }
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
function logOn(connection: LogConnection): PostgresLog {
  const { toolCalls } = connection.tables
  const relaxed = connection.commitMode(false)
  return {
    name: 'postgres',
    capabilities: {
      durable: true,
      multiProcess: true,
      claims: true,
      approvals: true,
      state: true,
      runs: true,
      attempts: true,
      browsing: true,
    },
    approvals: approvalsOn(connection),
    state: runStateOn(connection),
    runs: runsOn(connection),
    now: () => connection.clock.now(),
    beginAttempt: beginAttemptsOn(connection),
    start: startCallsOn(connection),

    finish: (callToken, patch) =>
      connection.write('record the end of a call', async (mayBeStored) => {
        const token = storedText(callToken)
        const { rowCount } = await connection.queryNamed(
          `WITH ${relaxed} UPDATE ${toolCalls} SET ${finishedAssignments}
            FROM commit_mode WHERE call_token = $10 AND finished_at_ms IS NULL`,
          [...finishedValues(patch), token],
        )
        if (rowCount === 1) return 'ok'
        if (!mayBeStored) return 'fenced'
        const { rows } = await connection.query(
          `SELECT ${selectedColumns} FROM ${toolCalls} WHERE call_token = $1`,
          [token],
        )
        const stored = rows[0] && callFrom(rows[0])
        const isOurs = (
          ['status', 'effect', 'finishedAtMs', 'outputJson', 'errorJson'] as const
        ).every((field) => stored?.[field] === patch[field])
        return isOurs ? 'ok' : 'fenced'
      }),

    renew: (callToken, leaseExpiresAtMs) =>
      connection.write('renew the lease of a call', async () => {
        const { rowCount } = await connection.queryNamed(
          `WITH ${relaxed} UPDATE ${toolCalls} SET lease_expires_at_ms = $2
            FROM commit_mode WHERE call_token = $1 AND finished_at_ms IS NULL`,
          [storedText(callToken), leaseExpiresAtMs],
        )
        return rowCount === 1
      }),

    list: (query) => listCalls(connection, query),

    listRuns: (query) => listRunsOn(connection, query),
    search: (search) => searchOn(connection, search),

    version: () =>
      connection.read('ask for its version', async () => {
        const { rows } = await connection.query(versionSql)
        return String(rows[0]?.['version'])
      }),

    recover: (query) => recoverOrphans(connection, query),
    prune: (query) => pruneInBatches(connection, query),
    archive: (query = {}) => archiveRuns(connection, query, connection.clock.now()),
    dropArchived: (query) => dropArchived(connection, query),
    close: () => connection.close(),
  }
}

// The whole snapshot: its end alone stays the same when a transaction commits that had begun before.
const versionSql = 'SELECT pg_current_snapshot()::text AS version'
