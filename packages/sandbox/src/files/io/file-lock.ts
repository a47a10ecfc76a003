import { tryProcessLock, waitForProcessLock } from './process-lock.ts'

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
 * promise only when the lock is taken: waiting calls of this process get it in order, other processes between them.
 *
 * @throws SandboxError `TOOL_FILE_FAILED` when another process keeps the lock for too long
 */
export function takeFileLock(key: string): Release | Promise<Release> {
  const { before, leave } = enterQueue(key)
  if (before !== undefined) return before.then(() => lockForProcesses(key, leave))
  const unlock = tryProcessLock(key)
  return unlock === undefined ? lockForProcesses(key, leave) : releaseBoth(unlock, leave)
}

/** Joins the queue of this process: returns the call to wait for, and how to let the next one in. */
function enterQueue(key: string): { readonly before: Promise<void> | undefined; leave: Release } {
  const table = lockTable()
  const before = table.get(key)
  let resolve!: () => void
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  table.set(key, promise)
  return {
    before,
    leave: () => {
      if (table.get(key) === promise) table.delete(key)
      resolve()
    },
  }
}

async function lockForProcesses(key: string, leave: Release): Promise<Release> {
  try {
    return releaseBoth(await waitForProcessLock(key), leave)
  } catch (error) {
    leave()
    throw error
  }
}

function releaseBoth(unlock: Release, leave: Release): Release {
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    try {
      unlock()
    } finally {
      leave()
    }
  }
}
