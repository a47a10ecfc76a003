import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { claimLogFile, type LogFile, notDatabase } from './log-file.ts'
import { queryValue } from './sqlite-database.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isBusy, sqliteCode, unavailable } from './sqlite-failure.ts'

/** How long opening may wait for other processes that open or migrate the same file at this moment. */
export const openTimeoutMs = 5000

/** An open database, and its file if it has one. */
export interface OpenDatabase {
  readonly database: SqliteDatabase
  readonly file: LogFile | undefined
}

/**
 * Opens a database file, creating it for this user alone when it is missing. A file that is something else, and a link,
 * is left as it is.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`
 */
export function openDatabaseFile(path: string): OpenDatabase {
  assertNodeVersion(process.versions.node)
  let database: SqliteDatabase | undefined
  try {
    if (path === ':memory:') return { database: new Database(path), file: undefined }
    const absolute = resolve(path)
    // The directory may be reached through links; the file itself may not be one.
    const file = claimLogFile(join(realpathSync(dirname(absolute)), basename(absolute)))
    database = new Database(file.path, { timeout: openTimeoutMs })
    // The file that was checked, and not one that took its place before SQLite opened it.
    file.assertInPlace()
    return { database, file }
  } catch (error) {
    database?.close()
    throw cannotOpen(path, error)
  }
}

/** The native SQLite of older versions of Node ends the process instead of failing. */
function assertNodeVersion(version: string): void {
  const [major = 0] = version.split('.').map(Number)
  if (major >= oldestNode) return
  throw unavailable(
    'node-version',
    `The tool-call log in SQLite needs Node ${oldestNode} or newer, and this is Node ${version}. Update Node, or use a log in memory.`,
  )
}

const oldestNode = 22

/** Switches to write-ahead logging, where a commit needs no fsync and readers do not block the writer. */
export function useWriteAheadLog(database: SqliteDatabase): void {
  const deadline = performance.now() + openTimeoutMs
  for (;;) {
    try {
      queryValue(database, 'PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      // SQLite does not wait for this lock by itself when another process makes the same switch.
      if (!isBusy(error) || performance.now() >= deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 10)
    }
  }
}

/** The error of opening. It names the path as it was given: the caller chose it. */
export function cannotOpen(path: string, error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === 'NOTADB') return notDatabase(path, 'its content is not a SQLite database')
  if (code === 'CORRUPT') {
    return unavailable(
      'damaged',
      `The tool-call log ${JSON.stringify(path)} is damaged: ${(error as Error).message}. Restore the file from a backup, or move it away to begin a new log.`,
      { cause: error },
    )
  }
  const isSystemError = error instanceof Error && 'syscall' in error
  if (code === null && !isSystemError) return error
  const { message } = error as Error
  return unavailable(
    'cannot-open',
    `The tool-call log ${JSON.stringify(path)} cannot be opened: ${message}. ` +
      'Give the path of a file in an existing, writable folder.',
    { cause: error },
  )
}

/** The file of a database; null for `:memory:` and temporary databases, which end with their connection. */
export function diskFileOf(database: SqliteDatabase): string | null {
  const main = database.prepare('PRAGMA database_list').get() as
    | { file?: string | null }
    | undefined
  return main?.file || null
}
