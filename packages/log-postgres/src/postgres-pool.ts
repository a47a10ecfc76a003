import pg from 'pg'

/** A value of a statement's parameter. */
export type PostgresValue = string | number | boolean | null | readonly (string | number | null)[]

/** One statement with its parameters. */
export interface PostgresStatement {
  /** A name under which the connection keeps the plan of the statement. A pool may ignore it. */
  readonly name?: string
  readonly text: string
  readonly values?: PostgresValue[]
}

/** A row as the driver returns it. */
export type PostgresRow = Readonly<Record<string, unknown>>

/** What the server answers to a statement. */
export interface PostgresResult {
  readonly rows: PostgresRow[]
  readonly rowCount: number | null
}

/** The one method of a pool that the log uses. A `Pool` of `pg` fits. */
export interface PostgresPool {
  query(statement: PostgresStatement): PromiseLike<PostgresResult>
}

/** A pool and how to end it. */
export interface OpenPool {
  readonly pool: PostgresPool
  /** Ends the pool if it is the log's own. */
  end(): Promise<void>
}

/** How a pool of the log's own is made. */
export interface PoolSettings {
  readonly connectionString: string
  readonly maxConnections: number
  readonly maxWaitMs: number
}

/** Makes a pool that keeps no process alive and gives up on a server that does not answer. */
export function openPool(settings: PoolSettings): OpenPool {
  const { connectionString, maxConnections, maxWaitMs } = settings
  const pool = new pg.Pool({
    connectionString,
    application_name: 'smithers',
    max: maxConnections,
    connectionTimeoutMillis: Math.max(1, maxWaitMs),
    // Measured here, not by the server: poolers refuse connections that bring a setting of their own.
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is replaced by the next statement; without a listener it would end the process.
  pool.on('error', () => {})
  return { pool, end: () => endInTime(pool) }
}

/** A connection to a server that has stopped answering does not close either. */
async function endInTime(pool: pg.Pool): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const inTime = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, closeTimeoutMs)
  })
  try {
    await Promise.race([pool.end(), inTime])
  } finally {
    clearTimeout(timer)
  }
}

/** The longest that a statement of a pool of the log's own may take. */
const queryTimeoutMs = 10_000

const closeTimeoutMs = 2000
