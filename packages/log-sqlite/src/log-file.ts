import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { unavailable } from './sqlite-failure.ts'

/** The file of a log, by the directory entry and the inode that it was opened with. */
export interface LogFile {
  readonly path: string
  /**
   * Throws when the path no longer names this file.
   *
   * @param seenMs Does not look when it was seen in its place less than so many milliseconds ago. @default 0
   */
  assertInPlace(seenMs?: number): void
}

/** A log's file and those that SQLite keeps beside it. */
export function filesOf(path: string): readonly string[] {
  return [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]
}

/**
 * Creates the file for this user alone, or checks that the existing one is a database. Follows no link in the place of
 * the file or of those that SQLite keeps beside it: a link would let another program choose the database.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, or what the file system reports
 */
export function claimLogFile(path: string): LogFile {
  for (const beside of filesOf(path)) refuseLink(beside)
  const { dev, ino } = createOrCheck(path)
  let seenAt = -Infinity
  return {
    path,
    assertInPlace(seenMs = 0) {
      if (seenMs > 0 && performance.now() - seenAt < seenMs) return
      const now = lstatSync(path, { throwIfNoEntry: false })
      const isInPlace = now?.ino === ino && now.dev === dev
      seenAt = isInPlace ? performance.now() : -Infinity
      if (isInPlace) return
      throw unavailable(
        'file-replaced',
        `The file of the tool-call log was ${now === undefined ? 'deleted' : 'replaced'} while it was open, so no call can be recorded in it. ` +
          'Put it back, or end the run and open the log again.',
      )
    },
  }
}

function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    throw notDatabase(path, 'it is a symbolic link')
  }
}

function createOrCheck(path: string): { readonly dev: number; readonly ino: number } {
  const { O_CREAT, O_EXCL, O_RDWR, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let descriptor: number
  let created = true
  try {
    // Never the default mode: the log holds arguments and outputs of tools.
    descriptor = openSync(path, O_CREAT | O_EXCL | O_RDWR, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    created = false
    // Asked before opening: to open a device may have effects, and to open a FIFO waits for a writer.
    if (!lstatSync(path).isFile()) throw notDatabase(path, 'it is not a regular file')
    descriptor = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw notDatabase(path, 'it is not a regular file')
    if (!created) assertDatabase(path, descriptor)
    return stats
  } finally {
    closeSync(descriptor)
  }
}

function assertDatabase(path: string, descriptor: number): void {
  const header = Buffer.alloc(databaseHeader.length)
  const length = readSync(descriptor, header, 0, header.length, 0)
  if (length > 0 && !header.equals(databaseHeader)) {
    throw notDatabase(path, 'its content is not a SQLite database')
  }
}

const databaseHeader = Buffer.from('SQLite format 3\0', 'latin1')

export function notDatabase(path: string, why: string): Error {
  return unavailable(
    'not-a-database',
    `${JSON.stringify(path)} cannot hold the tool-call log: ${why}. It was not changed. Choose another path.`,
  )
}
