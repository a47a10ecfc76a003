import { markPrompt, SmithersError } from '@smithers/tool-core/log'
import type {
  ApprovalStore,
  RunStateStore,
  RunStore,
  StartOptions,
  StartResult,
  StartRow,
  ToolCallLog,
  ToolCallRow,
} from '@smithers/tool-core/log'
import { approvalsOn } from './approvals.ts'
import { listQuery } from './list-query.ts'
import { filesOf } from './log-file.ts'
import { createLogConnection } from './log-connection.ts'
import type { LogConnection } from './log-connection.ts'
import { cannotOpen, diskFileOf, openDatabaseFile } from './open-database.ts'
import { pruneInBatches } from './prune.ts'
import { recoverOrphans } from './recover.ts'
import { runStateOn } from './run-state.ts'
import { runsOn } from './runs.ts'
import {
  bindText,
  finishSql,
  finishValues,
  hasNews,
  insertSql,
  insertUnlessNewsSql,
  newsSql,
  rowFromColumns,
  selectedColumns,
  startValues,
} from './rows.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { usesApprovalSql } from './schema.ts'
import { asLogError, violatedUniqueness } from './sqlite-failure.ts'

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
    },
    approvals: approvalsOn(connection),
    state: runStateOn(connection),
    runs: runsOn(connection),

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

/** One statement, so the row and its claim are stored together or not at all. */
function insertRow(connection: LogConnection, row: StartRow, options: StartOptions): StartResult {
  for (;;) {
    try {
      if (insertsOnce(connection, row, options)) return { ok: true }
      const existing = newsOf(connection, row, options)
      if (existing !== undefined) return { ok: false, reason: 'claimed', existing }
    } catch (error) {
      const conflict = conflictOf(connection, error, row, options)
      if (conflict !== undefined) return conflict
    }
  }
}

/** False when the key has been used by a call that the caller does not know. */
function insertsOnce(connection: LogConnection, row: StartRow, options: StartOptions): boolean {
  const values = startValues(row, options)
  if (options.known === undefined || options.claim === null || row.idempotencyKey === null) {
    connection.prepare(insertSql).run(...values)
    return true
  }
  const statement = connection.prepare(insertUnlessNewsSql)
  try {
    statement.run(bindText(row.idempotencyKey), JSON.stringify(options.known), ...values)
    return true
  } catch (error) {
    if (hasNews(error)) return false
    throw error
  }
}

function newsOf(
  connection: LogConnection,
  { idempotencyKey }: StartRow,
  { known = [] }: StartOptions,
): ToolCallRow | undefined {
  const columns = connection
    .prepare(`SELECT ${selectedColumns} ${newsSql} ORDER BY rowid DESC LIMIT 1`)
    .get(bindText(idempotencyKey), JSON.stringify(known))
  return columns === undefined ? undefined : rowFromColumns(columns)
}

/** What keeps a row out of the table; undefined when it has gone meanwhile, so that the next insert may succeed. */
function conflictOf(
  connection: LogConnection,
  error: unknown,
  row: StartRow,
  { claim, approvalId = null }: StartOptions,
): StartResult | undefined {
  const violated = violatedUniqueness(error)
  if (violated === 'position') return { ok: false, reason: 'seq-taken' }
  if (violated === 'call-token') throw tokenTaken(row)
  if (violated === 'approval') {
    const existing = userOf(connection, approvalId)
    // It may have failed without an effect since: then the approval is free again.
    return existing && { ok: false, reason: 'approval-used', existing }
  }
  if (violated !== 'claim') throw error
  const existing = holderOf(connection, row.idempotencyKey, claim)
  // SQLite names one of the conflicts; a call that is in the log conflicts with itself in all of them.
  if (existing?.callToken === row.callToken) throw tokenTaken(row)
  return existing && { ok: false, reason: 'claimed', existing }
}

function tokenTaken({ callToken }: StartRow): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `callToken ${JSON.stringify(callToken)} is already in the log. Give every call its own token.`,
    { effect: 'none' },
  )
}

function holderOf(
  connection: LogConnection,
  key: string | null,
  claim: StartOptions['claim'],
): ToolCallRow | undefined {
  const columns = connection.prepare(holderSql).get(bindText(key), claim)
  return columns === undefined ? undefined : rowFromColumns(columns)
}

function userOf(connection: LogConnection, approvalId: string | null): ToolCallRow | undefined {
  const columns = connection.prepare(userSql).get(bindText(approvalId))
  return columns === undefined ? undefined : rowFromColumns(columns)
}

const userSql = `SELECT ${selectedColumns} FROM _smithers_tool_calls
  WHERE approval_id = ? AND ${usesApprovalSql} LIMIT 1`

const holderSql = `SELECT ${selectedColumns} FROM _smithers_tool_calls
  WHERE idempotency_key = ? AND claim IS NOT NULL
    AND (finished_at_ms IS NULL OR (claim = 'once' AND status = 'success' AND ? = 'once'))
  LIMIT 1`

const renewSql = `UPDATE _smithers_tool_calls SET lease_expires_at_ms = ?
  WHERE call_token = ? AND finished_at_ms IS NULL`
