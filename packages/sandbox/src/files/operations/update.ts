import { lstatSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { beginFile, checkWritable, fill } from '../io/atomic-write.ts'
import type { WriteDurability } from '../io/atomic-write.ts'
import { notAFile, quotePath } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { takeFileLock } from '../io/file-lock.ts'
import type { Release } from '../io/file-lock.ts'
import { isSameFile, takeSnapshot } from '../io/file-snapshot.ts'
import type { FileSnapshot } from '../io/file-snapshot.ts'
import type { EntryHandle } from '../guard/directory-handle.ts'
import {
  copyBytes,
  holdsBytes,
  isSmall,
  readLargeFile,
  readSmallFile,
  regularFile,
} from '../io/read-file.ts'
import { inTurn } from '../io/semaphore.ts'
import type { Semaphore } from '../io/semaphore.ts'
import { sweepLeftovers } from '../io/sweep-leftovers.ts'
import { toBytes } from '../io/text-encoding.ts'
import type { ResolvedPath } from '../guard/walk-path.ts'

interface UpdateRequest {
  readonly path: string
  readonly maxBytes: number
  readonly durability: WriteDurability
  /** Returns the new contents, or undefined to change nothing. Runs under the lock, so it must not wait. */
  readonly change: (bytes: Buffer) => string | Uint8Array | undefined
}

/**
 * Reads, changes and replaces a file as one step: other updates and writes of our own processes wait, and a change by another
 * program in between is detected and refused.
 *
 * Does not protect against: a change by another program within the microseconds between the last check and the rename.
 */
export function updateContent(
  guard: FileGuard,
  slots: Semaphore,
  request: UpdateRequest,
): Promise<void> {
  return inTurn(slots, async () => {
    const { resolved, release } = await lockFile(guard, request.path)
    try {
      await guard.run(request.path, () => updateLocked(guard, resolved, request))
    } finally {
      release()
      resolved.closeLater()
    }
  })
}

interface LockedFile {
  readonly resolved: ResolvedPath
  readonly release: Release
}

/**
 * Locks a file. Resolving the path and taking a free lock are one synchronous step, so that no write of this process
 * happens between them. Nothing stays open while waiting for the lock, so the path is then resolved again, as it is when
 * another process has replaced the file in between.
 */
async function lockFile(guard: FileGuard, path: string): Promise<LockedFile> {
  for (;;) {
    const first = await guard.run(path, () => tryLock(guard, path))
    if ('resolved' in first) return first
    const release = await first.taken
    try {
      const resolved = await guard.run(path, () => walkToFile(guard, path))
      if (guard.lockKey(resolved) === first.key) return { resolved, release }
      resolved.close()
    } catch (error) {
      release()
      throw error
    }
    release()
  }
}

function tryLock(
  guard: FileGuard,
  path: string,
): LockedFile | { readonly key: string; readonly taken: Promise<Release> } {
  const resolved = walkToFile(guard, path)
  const key = guard.lockKey(resolved)
  const taken = takeFileLock(key)
  if (!(taken instanceof Promise) && isCurrent(resolved)) return { resolved, release: taken }
  resolved.close()
  return { key, taken: Promise.resolve(taken) }
}

/** Whether the name still leads to the file: another process may have replaced it before its lock became free. */
function isCurrent({ directory, name, stat }: ResolvedPath): boolean {
  if (name === undefined || stat === undefined) return true
  return isSameFile(
    takeSnapshot(stat),
    lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false }),
  )
}

function walkToFile(guard: FileGuard, path: string): ResolvedPath {
  return guard.walk(path, { lastLink: 'follow', lastEntry: 'open' })
}

function updateLocked(
  guard: FileGuard,
  resolved: ResolvedPath,
  request: UpdateRequest,
): void | Promise<void> {
  const { path, maxBytes } = request
  guard.policy.checkResolved(resolved, 'write')
  const entry = regularFile(resolved, path)
  guard.policy.checkLinks(resolved.relativePath, entry.stat)
  checkWritable(entry.self, entry.stat)
  const snapshot = takeSnapshot(entry.stat)
  const replace = (bytes: Buffer): void | Promise<void> => {
    const content = request.change(bytes)
    if (content === undefined) return undefined
    return replaceFile({ resolved, entry, snapshot, bytes }, toBytes(content), request)
  }
  if (isSmall(entry.stat.size)) {
    const small = readSmallFile(entry, path, maxBytes, copyBytes)
    if (small !== undefined) return replace(small.value)
  }
  return readLargeFile(entry, path, maxBytes).then(replace)
}

/** The version of a file that was read. */
interface ReadVersion {
  readonly resolved: ResolvedPath
  readonly entry: EntryHandle
  readonly snapshot: FileSnapshot
  readonly bytes: Buffer
}

function replaceFile(
  version: ReadVersion,
  next: Uint8Array,
  { path, durability }: UpdateRequest,
): void | Promise<void> {
  const { resolved, entry, snapshot, bytes } = version
  const { directory, name } = resolved
  if (name === undefined) throw notAFile(path, 'directory')
  sweepLeftovers(directory)
  const file = beginFile(directory, entry.stat)
  const finish = () => {
    // This check comes last, to keep the time before the rename short.
    const hasSameBytes = !snapshot.isFresh || holdsBytes(entry, bytes)
    const now = lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false })
    if (!hasSameBytes || !isSameFile(snapshot, now)) throw changedMeanwhile(path)
    file.commit(name)
  }
  if (durability === 'fsync' || !isSmall(next.length)) {
    return fill(file, next, durability)
      .then(finish)
      .finally(() => file.dispose())
  }
  try {
    file.writeNow(next)
    return finish()
  } finally {
    file.dispose()
  }
}

function changedMeanwhile(path: string): SandboxError {
  return new SandboxError(
    'TOOL_FILE_CHANGED',
    `${quotePath(path)} was changed by another program after it was read. Nothing was replaced. Read it again and repeat the change.`,
    { details: { path }, effect: 'none' },
  )
}
