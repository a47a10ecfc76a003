/** A value as it is bound to a statement. */
export type SqlValue = string | number | null | Uint8Array

/** The few methods of a prepared statement that the log uses. */
export interface SqliteStatement {
  run(...parameters: SqlValue[]): { readonly changes: number | bigint }
  get(...parameters: SqlValue[]): unknown
  all(...parameters: SqlValue[]): unknown[]
}

/**
 * The few methods of a synchronous SQLite connection that the log uses. A `Database` of better-sqlite3 and a
 * `DatabaseSync` of `node:sqlite` both fit.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  close(): unknown
  /** better-sqlite3: whether a transaction is open. */
  readonly inTransaction?: boolean
  /** `node:sqlite`: whether a transaction is open. */
  readonly isTransaction?: boolean
}

/** The first column of the first row: the answer of a `PRAGMA` or of a query for one value. */
export function queryValue(
  database: SqliteDatabase,
  sql: string,
  ...parameters: SqlValue[]
): unknown {
  const row = database.prepare(sql).get(...parameters) as Record<string, unknown> | undefined
  return row === undefined ? undefined : Object.values(row)[0]
}

/** Runs `action` in a transaction that takes the write lock first: a lock taken later can be refused for good. */
export function inWriteTransaction<T>(database: SqliteDatabase, action: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = action()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite has rolled back by itself after some errors, a full disk among them.
    if (database.inTransaction ?? database.isTransaction ?? true) database.exec('ROLLBACK')
    throw error
  }
}
