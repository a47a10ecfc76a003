import { SmithersError } from '@smithers/tool-core/log'
import { type OpenPool, openPool, type PostgresPool } from './postgres-pool.ts'
import { schemaOf } from './schema-of.ts'

/** What both forms of {@link PostgresLogOptions} take. */
export interface PostgresLogSettings {
  /**
   * The schema of the tables; created when there is none.
   *
   * @default what `?schema=NAME` of the connection string says, or `'public'`
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
   * Whether statements that are sent often get names, under which the server keeps their plans; without them a call
   * costs about twice as much. A pooler that hands every transaction another connection may not know the names: the log
   * then goes on without them, at the cost of a few errors in the log of the server. `false` behind such a pooler.
   *
   * @default true
   */
  readonly prepare?: boolean
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
  /** `postgres://user:password@host:5432/database`; `?schema=NAME` names the schema. */
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

/** The pool of the options, which stays open, or one of the log's own. */
export function poolFor(options: PostgresLogOptions, maxWaitMs: number): OpenPool {
  const { pool, connectionString, maxConnections = 4 } = options
  if (pool !== undefined) return { pool, end: async () => {} }
  return openPool({ connectionString, maxConnections, maxWaitMs })
}

/** Checks the options and completes them. @throws SmithersError `INVALID_INPUT` */
export function resolveSettings(options: PostgresLogOptions): Required<PostgresLogSettings> {
  const { durability = 'auto', maxWaitMs = 5000 } = options
  const { prepare = true, migrate: migrates = true } = options
  const { pool, connectionString, maxConnections = 4 } = options
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
  return { schema: schemaOf(options), durability, prepare, maxWaitMs, migrate: migrates }
}

function invalid(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', message)
}
