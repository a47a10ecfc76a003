import type { LogFile } from './log-file.ts'
import { openTimeoutMs, useWriteAheadLog } from './open-database.ts'
import { prepareSchema, schemaVersion, storedVersion } from './schema.ts'
import { inWriteTransaction, queryValue } from './sqlite-database.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'
import { asLogError, isBusy, unavailable } from './sqlite-failure.ts'
import { whenUnlocked } from './write-lock.ts'

export interface LogConnectionOptions {
  readonly database: SqliteDatabase
  /** The file that was opened, which must stay in its place. */
  readonly file: LogFile | undefined
  readonly durability: 'auto' | 'full' | 'relaxed'
  readonly maxWaitMs: number
  readonly closeDatabase: boolean
}

/** A connection that is set up for the log, and the rules under which its methods may use it. */
export interface LogConnection {
  /** The prepared statement of a text; prepared once. */
  prepare(sql: string): SqliteStatement
  /** Runs a query. `action` completes the sentence "could not …" of an error. */
  read<T>(action: string, query: () => T): T
  /**
   * Runs a write that commits before it returns; a promise only when it has to wait for another process.
   *
   * @param seenMs For so many milliseconds the file counts as in its place since it was last seen there. @default 0
   */
  write<T>(action: string, commit: () => T, seenMs?: number): T | Promise<T>
  /** Runs the statements of a write in one transaction. */
  atomically<T>(commit: () => T): T
  /** Runs a commit that survives a power failure, when the settings allow it. */
  synced<T>(commit: () => T): T
  /** Runs a commit whose removed bytes are overwritten in the pages that held them. */
  erasing<T>(commit: () => T): T
  /** Takes older versions of pages out of the write-ahead log, as soon as no process reads them. Never fails. */
  scrub(): void | Promise<void>
  /** Waits for the writes that wait, then releases the connection. */
  close(): void | Promise<void>
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createLogConnection(options: LogConnectionOptions): LogConnection {
  const { database, file, durability, maxWaitMs, closeDatabase } = options
  const access = setUp(database, durability)
  const secureDelete =
    secureDeleteModes[Number(queryValue(database, 'PRAGMA secure_delete'))] ?? 'OFF'
  const prepared = new Map<string, SqliteStatement>()
  const waiting = new Set<Promise<unknown>>()
  let state: 'open' | 'closing' | 'closed' = 'open'

  function assertOpen(): void {
    if (state !== 'open')
      throw unavailable('closed', 'The tool-call log is closed. Open a new one.')
  }

  function assertWritable(seenMs: number): void {
    if (access === 'newer') {
      throw unavailable(
        'newer-schema',
        `The tool-call log has schema ${storedVersion(database)}, written by a newer version of @smithers/log-sqlite; ` +
          `this version knows ${schemaVersion} and can only read it. Update the package to write.`,
      )
    }
    // Inside a transaction of other code the row would be committed later, or never.
    if (database.inTransaction ?? database.isTransaction ?? false) {
      throw unavailable(
        'in-transaction',
        'The tool-call log cannot write while a transaction is open on its connection. ' +
          'Give the log a connection of its own.',
      )
    }
    // SQLite goes on writing to a deleted file, which ends with the process.
    file?.assertInPlace(seenMs)
  }

  function release(): void {
    state = 'closed'
    prepared.clear()
    try {
      if (access === 'writable') database.exec('PRAGMA optimize')
    } catch {
      // Statistics for the query planner: the next close gathers them.
    }
    if (closeDatabase) database.close()
  }

  /** A reader is held up only while another process recovers the write-ahead log after a crash, which is short. */
  function waitBriefly<T>(query: () => T): T {
    database.exec(`PRAGMA busy_timeout = ${recoveryTimeoutMs}`)
    try {
      return query()
    } finally {
      database.exec('PRAGMA busy_timeout = 0')
    }
  }

  const connection: LogConnection = {
    prepare(sql) {
      let statement = prepared.get(sql)
      if (statement === undefined) {
        // Listings combine a few fields, so there are few texts; the bound is for a caller that tries them all.
        if (prepared.size >= mostPrepared) prepared.clear()
        statement = database.prepare(sql)
        prepared.set(sql, statement)
      }
      return statement
    },

    read(action, query) {
      assertOpen()
      try {
        try {
          return query()
        } catch (error) {
          if (!isBusy(error)) throw error
          return waitBriefly(query)
        }
      } catch (error) {
        throw asLogError(error, action)
      }
    },

    write(action, commit, seenMs = 0) {
      assertOpen()
      const guarded = (): ReturnType<typeof commit> => {
        assertWritable(seenMs)
        return commit()
      }
      try {
        const result = whenUnlocked(guarded, maxWaitMs)
        if (!(result instanceof Promise)) return result
        const settled = result.catch((error: unknown) => {
          throw asLogError(error, action)
        })
        waiting.add(settled)
        const forget = (): boolean => waiting.delete(settled)
        settled.then(forget, forget)
        return settled
      } catch (error) {
        throw asLogError(error, action)
      }
    },

    atomically: (commit) => inWriteTransaction(database, commit),

    synced(commit) {
      if (durability !== 'auto') return commit()
      // Executed, never prepared: this pragma takes effect when its statement is prepared.
      database.exec('PRAGMA synchronous = FULL')
      try {
        return commit()
      } finally {
        database.exec('PRAGMA synchronous = NORMAL')
      }
    },

    erasing(commit) {
      database.exec('PRAGMA secure_delete = ON')
      try {
        return commit()
      } finally {
        database.exec(`PRAGMA secure_delete = ${secureDelete}`)
      }
    },

    scrub() {
      try {
        const scrubbed = connection.write('shorten the write-ahead log', () => {
          const isRead = queryValue(database, 'PRAGMA wal_checkpoint(TRUNCATE)') !== 0
          if (isRead)
            throw Object.assign(new Error('another process reads'), { code: 'SQLITE_BUSY' })
        })
        return scrubbed instanceof Promise ? scrubbed.catch(ignore) : undefined
      } catch {
        // What is to be removed has been; the next checkpoint takes its old pages away.
        return undefined
      }
    },

    close() {
      if (state !== 'open') return undefined
      state = 'closing'
      if (waiting.size === 0) return release()
      return Promise.allSettled(waiting).then(release)
    },
  }
  return connection
}

/** By the number that the pragma answers with. */
const secureDeleteModes = ['OFF', 'ON', 'FAST'] as const

function ignore(): void {}

const recoveryTimeoutMs = 50

/**
 * Pages in the write-ahead log at which a commit also moves them into the database. Half of that cost is its two fsyncs,
 * so twice SQLite's default makes the mean call a tenth to a third cheaper; four times gains no more and blocks longer.
 */
const checkpointPages = 2000

const mostPrepared = 100

function setUp(
  database: SqliteDatabase,
  durability: 'auto' | 'full' | 'relaxed',
): 'writable' | 'newer' {
  database.exec(`PRAGMA busy_timeout = ${openTimeoutMs}`)
  // Nothing may change in a file that a newer version has shaped, not even its journal mode.
  if (storedVersion(database) > schemaVersion) return 'newer'
  useWriteAheadLog(database)
  // Set explicitly: SQLite may be compiled to lower it by itself once write-ahead logging is on.
  database.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  database.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
  const access = prepareSchema(database)
  // SQLite waits by blocking the event loop, so it does not wait: writes are repeated instead.
  database.exec('PRAGMA busy_timeout = 0')
  return access
}
