import { markPrompt, SmithersError } from '@smithers/tool-core/log'
import type {
  ApprovalStore,
  RunStateStore,
  RunStore,
  StartResult,
  ToolCallLog,
} from '@smithers/tool-core/log'
import { approvalsOn } from './approvals.ts'
import { beginAttemptOn } from './begun-attempts.ts'
import { browsingOn } from './browsing.ts'
import { listQuery } from './list-query.ts'
import { filesOf } from './log-file.ts'
import { createLogConnection } from './log-connection.ts'
import type { LogConnection } from './log-connection.ts'
import { cannotOpen, diskFileOf, openDatabaseFile } from './open-database.ts'
import { pruneInBatches } from './prune.ts'
import { recoverOrphans } from './recover.ts'
import { runStateOn } from './run-state.ts'
import { runsOn } from './runs.ts'
import { bindText, finishSql, finishValues, rowFromColumns } from './rows.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { asLogError } from './sqlite-failure.ts'
import { insertRow } from './start-call.ts'

/** What both forms of {@link SqliteLogOptions} take. */
export interface SqliteLogSettings {
  /**
   * Which commits wait for the disk. `'auto'`: the start of a call that asks for it, which `defineTool` does for tools
   * that are not idempotent; every other commit survives the end of the process, not a power failure. `'full'`: every
   * commit. `'relaxed'`: none.
   *
   * @default 'auto'
   */
  readonly durability?: 'auto' | 'full' | 'relaxed'
  /**
   * How long a write may wait for other processes before it fails with `TOOL_LOG_UNAVAILABLE`. Milliseconds.
   *
   * @default 5_000
   */
  readonly maxWaitMs?: number
}

/** A log in a file. */
export interface SqliteLogFile extends SqliteLogSettings {
  /** The file; created for this user alone (mode 0600) when there is none. `':memory:'` for a log without a file. */
  readonly path: string
  readonly database?: never
}

/** A log on a connection that exists already. */
export interface SqliteLogConnection extends SqliteLogSettings {
  /**
   * A connection of better-sqlite3 or `node:sqlite` for the log alone: its journal mode, `synchronous` and
   * `busy_timeout` are set. `close()` leaves it open.
   */
  readonly database: SqliteDatabase
  readonly path?: never
}

/** Options of {@link createSqliteLog}. */
export type SqliteLogOptions = SqliteLogFile | SqliteLogConnection

/** A {@link ToolCallLog} in a SQLite file, with approvals, state and runs. */
export interface SqliteLog extends ToolCallLog {
  readonly listRuns: NonNullable<ToolCallLog['listRuns']>
  readonly search: NonNullable<ToolCallLog['search']>
  readonly version: NonNullable<ToolCallLog['version']>
  readonly approvals: ApprovalStore
  readonly state: RunStateStore
  readonly runs: RunStore
}

/**
 * Opens the tool-call log of a SQLite file, table `_smithers_tool_calls`. An existing table
 * with the twelve documented columns gets the missing ones; a file that a newer version has shaped can only be listed.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` when the file cannot be opened or is no database, which leaves it as it
 *   was; from the methods when the log is closed, locked for too long, read-only or full. `INVALID_INPUT` for options.
 */
export function createSqliteLog(options: SqliteLogOptions): SqliteLog {
  const { durability, maxWaitMs } = resolveSettings(options)
  const { path } = options
  const { database, file } =
    path === undefined ? { database: options.database, file: undefined } : openDatabaseFile(path)
  try {
    const closeDatabase = path !== undefined
    const connection = createLogConnection({ database, file, durability, maxWaitMs, closeDatabase })
    return logOn(connection, diskFileOf(database))
  } catch (error) {
    if (path === undefined) throw asLogError(error, 'be set up')
    database.close()
    throw cannotOpen(path, error)
  }
}

function resolveSettings(options: SqliteLogOptions): Required<SqliteLogSettings> {
  const { path, database, durability = 'auto', maxWaitMs = 5000 } = options
  if (database === undefined && (typeof path !== 'string' || path === '')) {
    throw new SmithersError('INVALID_INPUT', 'createSqliteLog needs { path } or { database }.')
  }
  if (!['auto', 'full', 'relaxed'].includes(durability)) {
    throw new SmithersError(
      'INVALID_INPUT',
      `durability must be 'auto', 'full' or 'relaxed', got ${JSON.stringify(durability)}.`,
    )
  }
  if (!(maxWaitMs >= 0)) {
    throw new SmithersError(
      'INVALID_INPUT',
      `maxWaitMs must be 0 or a positive number, got ${maxWaitMs}.`,
    )
  }
  return { durability, maxWaitMs }
}

function logOn(connection: LogConnection, file: string | null): SqliteLog {
  const onDisk = file !== null
  // Each method waits for other processes no longer than maxWaitMs.
  return markPrompt({
    name: 'sqlite',
    files: file === null ? [] : filesOf(file),
    capabilities: {
      durable: onDisk,
      multiProcess: onDisk,
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
    ...browsingOn(connection),

    beginAttempt: (attempt) => beginAttemptOn(connection, attempt),

    start(row, options) {
      return connection.write('record the start of a call', () => {
        const insert = (): StartResult => insertRow(connection, row, options)
        return options.durability === 'fsync' ? connection.synced(insert) : insert()
      })
    },

    finish(callToken, patch) {
      const finish = (): 'ok' | 'fenced' => {
        const { changes } = connection.prepare(finishSql).run(...finishValues(callToken, patch))
        return Number(changes) === 1 ? 'ok' : 'fenced'
      }
      return connection.write('record the end of a call', finish, shortCallMs)
    },

    renew(callToken, leaseExpiresAtMs) {
      return connection.write('renew the lease of a call', () => {
        const { changes } = connection.prepare(renewSql).run(leaseExpiresAtMs, bindText(callToken))
        return Number(changes) === 1
      })
    },

    list(query) {
      return connection.read('list calls', () => {
        const { sql, values } = listQuery(query)
        return connection
          .prepare(sql)
          .all(...values)
          .map(rowFromColumns)
      })
    },

    recover: (query) => recoverOrphans(connection, query),
    prune: (query) => pruneInBatches(connection, query),
    close: () => connection.close(),
  })
}

/**
 * The end of a call that took less does not look for the file again: its start has. A file deleted in between is noticed by
 * the next start, as one that is deleted just after the call is. Each look costs a short call as much as a tool that does
 * nothing.
 */
const shortCallMs = 1

const renewSql = `UPDATE _smithers_tool_calls SET lease_expires_at_ms = ?
  WHERE call_token = ? AND finished_at_ms IS NULL`
