// One table per process, shared by all copies of this package.
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
 * Takes the lock of a file, identified by directory and name because replacing a file changes its inode. Returns a
 * promise only when the lock is taken; waiting calls get it in order.
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
