import { SmithersError } from '@smithers/tool-core/log'
import type { ApprovalStore, RunStateStore, RunStore, ToolCallLog } from '@smithers/tool-core/log'
import { approvalsOn } from './approvals.ts'
import { callFrom, finishedAssignments, finishedValues, selectedColumns } from './call-rows.ts'
import { listQuery } from './list-query.ts'
import { createLogConnection, type LogConnection } from './log-connection.ts'
import { prepareSchema } from './migrate.ts'
import { type OpenPool, openPool, type PostgresPool } from './postgres-pool.ts'
import { pruneInBatches } from './prune.ts'
import { recoverOrphans } from './recover.ts'
import { runStateOn } from './run-state.ts'
import { runsOn } from './runs.ts'
import { schemaVersion } from './schema.ts'
import { startCallsOn } from './start-calls.ts'
import { storedText } from './stored-text.ts'
import { type Tables, tablesOf } from './tables.ts'

/** What both forms of {@link PostgresLogOptions} take. */
export interface PostgresLogSettings {
  /**
   * The schema of the tables; created when there is none.
   *
   * @default 'public'
   */
  readonly schema?: string
  /**
   * Which commits wait for the disk of the server. `'auto'`: the start of a call that asks for it, which `defineTool`
   * does for tools that are not idempotent, approvals, and the end of a run; every other commit survives the end of
   * this process, and a crash of the server can take the last moments. `'full'`: every commit. `'relaxed'`: none.
   *
   * @default 'auto'
   */
  readonly durability?: 'auto' | 'full' | 'relaxed'
  /**
   * How long a method waits for a connection, and goes on trying when one breaks, before it fails with
   * `TOOL_LOG_UNAVAILABLE`. Milliseconds.
   *
   * @default 5_000
   */
  readonly maxWaitMs?: number
  /**
   * Whether a missing or older schema is brought to this version. `false` for a role that may not create tables: then it
   * is an error.
   *
   * @default true
   */
  readonly migrate?: boolean
}

/** A log with connections of its own, which `close()` ends. */
export interface PostgresLogServer extends PostgresLogSettings {
  /** `postgres://user:password@host:5432/database`. */
  readonly connectionString: string
  /**
   * Most connections at once. One is the worst choice for several calls at a time.
   *
   * @default 4
   */
  readonly maxConnections?: number
  readonly pool?: never
}

/** A log on a pool that exists already. */
export interface PostgresLogPool extends PostgresLogSettings {
  /**
   * A `Pool` of `pg`, or an object with the same `query`. `close()` leaves it open. Long transactions of other code
   * starve the renewal of leases, so a pool of its own is better.
   */
  readonly pool: PostgresPool
  readonly connectionString?: never
  readonly maxConnections?: never
}

/** Options of {@link createPostgresLog}. */
export type PostgresLogOptions = PostgresLogServer | PostgresLogPool

/** A {@link ToolCallLog} in a PostgreSQL database, with approvals, state and runs. */
export interface PostgresLog extends ToolCallLog {
  readonly approvals: ApprovalStore
  readonly state: RunStateStore
  readonly runs: RunStore
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
  const { durability, maxWaitMs } = settings
  const tables = tablesOf(settings.schema)
  const opened = poolFor(options, maxWaitMs)
  try {
    const mode = settings.migrate ? 'apply' : 'check'
    const found = await prepareSchema(opened.pool, tables, { mode, maxWaitMs })
    const newerSchema = found > schemaVersion ? { found, known: schemaVersion } : undefined
    const connection = { opened, tables, durability, maxWaitMs, newerSchema }
    return logOn(createLogConnection(connection))
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

function poolFor(options: PostgresLogOptions, maxWaitMs: number): OpenPool {
  const { pool, connectionString, maxConnections = 4 } = options
  if (pool !== undefined) return { pool, end: async () => {} }
  return openPool({ connectionString, maxConnections, maxWaitMs })
}

function resolveSettings(options: PostgresLogOptions): Required<PostgresLogSettings> {
  const { schema = 'public', durability = 'auto', maxWaitMs = 5000 } = options
  const { pool, connectionString, maxConnections = 4, migrate: migrates = true } = options
  if (pool === undefined) {
    // The driver takes anything else for the name of a database on a host called "base".
    if (
      typeof connectionString !== 'string' ||
      !/^(postgres(ql)?|socket):/.test(connectionString)
    ) {
      throw invalid(
        'createPostgresLog needs { pool } or a { connectionString } like postgres://user:password@host:5432/database.',
      )
    }
  } else if (typeof pool.query !== 'function') {
    throw invalid('pool must have the method query of a Pool of pg.')
  }
  if (!['auto', 'full', 'relaxed'].includes(durability)) {
    throw invalid(
      `durability must be 'auto', 'full' or 'relaxed', got ${JSON.stringify(durability)}.`,
    )
  }
  if (!(maxWaitMs >= 0)) {
    throw invalid(`maxWaitMs must be 0 or a positive number, got ${maxWaitMs}.`)
  }
  if (!Number.isInteger(maxConnections) || maxConnections < 1) {
    throw invalid(`maxConnections must be a positive integer, got ${maxConnections}.`)
  }
  return { schema, durability, maxWaitMs, migrate: migrates }
}

function invalid(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', message)
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
    },
    approvals: approvalsOn(connection),
    state: runStateOn(connection),
    runs: runsOn(connection),
    start: startCallsOn(connection),

    finish: (callToken, patch) =>
      connection.write('record the end of a call', async (mayBeStored) => {
        const token = storedText(callToken)
        const { rowCount } = await connection.query(
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
        const { rowCount } = await connection.query(
          `WITH ${relaxed} UPDATE ${toolCalls} SET lease_expires_at_ms = $2
            FROM commit_mode WHERE call_token = $1 AND finished_at_ms IS NULL`,
          [storedText(callToken), leaseExpiresAtMs],
        )
        return rowCount === 1
      }),

    list: (query) =>
      connection.read('list calls', async () => {
        const { text, values } = listQuery(toolCalls, query)
        const { rows } = await connection.query(text, values)
        return rows.map(callFrom)
      }),

    recover: (query) => recoverOrphans(connection, query),
    prune: (query) => pruneInBatches(connection, query),
    close: () => connection.close(),
  }
}
