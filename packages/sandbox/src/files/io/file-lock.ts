// One table for the process: two copies of this package must not edit the same file at once.
const tableKey = Symbol.for('smithers.sandbox.file-locks')

/** The tail of the queue for each locked file. */
type LockTable = Map<string, Promise<void>>

function lockTable(): LockTable {
  const holder = globalThis as { [tableKey]?: LockTable }
  holder[tableKey] ??= new Map()
  return holder[tableKey]
}

/** Releases a lock; calling it twice does nothing. */
export type Release = () => void

/**
 * Takes the lock of a file, which is identified by its directory and name since replacing a file gives it a new inode.
 * Returns a promise only when somebody else holds it; turns are in the order of asking.
 */
export function takeFileLock(key: string): Release | Promise<Release> {
  const table = lockTable()
  const before = table.get(key)
  let resolve!: () => void
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  table.set(key, promise)
  const release: Release = () => {
    if (table.get(key) === promise) table.delete(key)
    resolve()
  }
  return before === undefined ? release : before.then(() => release)
}
