import { closeSync, openSync, readSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { queryValue } from './sqlite-database.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isBusy, sqliteCode, unavailable } from './sqlite-failure.ts'

/** How long opening may wait for other processes that open or migrate the same file at this moment. */
export const openTimeoutMs = 5000

/**
 * Opens a database file, creating it for this user alone when there is none. A file that is something else is left
 * as it is.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`
 */
export function openDatabaseFile(path: string): SqliteDatabase {
  if (path !== ':memory:') claimFile(path)
  try {
    return new Database(path, { timeout: openTimeoutMs })
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

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

function claimFile(path: string): void {
  let descriptor: number
  try {
    // Never the default mode: the log holds arguments and outputs of tools.
    descriptor = openSync(path, 'wx+', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotOpen(path, error)
    assertDatabase(path)
    return
  }
  closeSync(descriptor)
}

function assertDatabase(path: string): void {
  const header = Buffer.alloc(databaseHeader.length)
  let length: number
  try {
    // Asked before opening: to open a FIFO would wait for a writer.
    if (!statSync(path).isFile()) throw notDatabase(path, 'it is not a regular file')
    const descriptor = openSync(path, 'r')
    length = readSync(descriptor, header, 0, header.length, 0)
    closeSync(descriptor)
  } catch (error) {
    throw cannotOpen(path, error)
  }
  if (length > 0 && !header.equals(databaseHeader)) {
    throw notDatabase(path, 'its content is not a SQLite database')
  }
}

const databaseHeader = Buffer.from('SQLite format 3\0', 'latin1')

function notDatabase(path: string, why: string): Error {
  return unavailable(
    'not-a-database',
    `${JSON.stringify(path)} cannot hold the tool-call log: ${why}. It was not changed. Choose another path.`,
  )
}

/** The error of opening. It names the path as it was given: whoever opens the log chose it. */
export function cannotOpen(path: string, error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === 'NOTADB') return notDatabase(path, 'its content is not a SQLite database')
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

/** False for `:memory:` and temporary databases, which end with their connection. */
export function isDatabaseOnDisk(database: SqliteDatabase): boolean {
  const main = database.prepare('PRAGMA database_list').get() as
    | { file?: string | null }
    | undefined
  return Boolean(main?.file)
}
