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
import type { HeldEntry } from '../guard/held-directory.ts'
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
import type { Place } from '../guard/walk-path.ts'

interface UpdateRequest {
  readonly path: string
  readonly maxBytes: number
  readonly durability: WriteDurability
  /** Gives the new contents, or undefined to leave the file as it is. It runs under the lock and must not wait. */
  readonly change: (bytes: Buffer) => string | Uint8Array | undefined
}

/**
 * Reads, changes and replaces a file as one step: other updates and writes of this process wait, and a change by anybody
 * else in between is noticed and refused.
 *
 * Does not protect against: a foreign change within the microseconds between the last look and the rename.
 */
export function updateContent(
  guard: FileGuard,
  held: Semaphore,
  request: UpdateRequest,
): Promise<void> {
  return inTurn(held, async () => {
    const { place, release } = await lockedPlace(guard, request.path)
    try {
      await guard.run(request.path, () => updatePlace(guard, place, request))
    } finally {
      release()
      place.close()
    }
  })
}

interface LockedPlace {
  readonly place: Place
  readonly release: Release
}

/**
 * The file with its lock taken. Looking at the file and taking a free lock are one synchronous step, so that no write of
 * this process can come between them. While waiting nothing is held, so afterwards the path is walked again.
 */
async function lockedPlace(guard: FileGuard, path: string): Promise<LockedPlace> {
  for (;;) {
    const first = await guard.run(path, () => tryLock(guard, path))
    if ('place' in first) return first
    const release = await first.taken
    try {
      const place = await guard.run(path, () => walkToFile(guard, path))
      if (guard.lockKey(place) === first.key) return { place, release }
      place.close()
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
): LockedPlace | { readonly key: string; readonly taken: Promise<Release> } {
  const place = walkToFile(guard, path)
  const key = guard.lockKey(place)
  const taken = takeFileLock(key)
  if (!(taken instanceof Promise)) return { place, release: taken }
  place.close()
  return { key, taken }
}

function walkToFile(guard: FileGuard, path: string): Place {
  return guard.walk(path, { lastLink: 'follow', hold: 'entry' })
}

function updatePlace(guard: FileGuard, place: Place, request: UpdateRequest): void | Promise<void> {
  const { path, maxBytes } = request
  guard.policy.checkPlace(place, 'write')
  const entry = regularFile(place, path)
  guard.policy.checkLinks(place.relativePath, entry.stat)
  checkWritable(entry.self, entry.stat)
  const snapshot = takeSnapshot(entry.stat)
  const replace = (bytes: Buffer): void | Promise<void> => {
    const content = request.change(bytes)
    if (content === undefined) return undefined
    return replaceFile({ place, entry, snapshot, bytes }, toBytes(content), request)
  }
  if (isSmall(entry.stat.size)) {
    const small = readSmallFile(entry, path, maxBytes, copyBytes)
    if (small !== undefined) return replace(small.value)
  }
  return readLargeFile(entry, path, maxBytes).then(replace)
}

/** What was read, and from where. */
interface ReadVersion {
  readonly place: Place
  readonly entry: HeldEntry
  readonly snapshot: FileSnapshot
  readonly bytes: Buffer
}

function replaceFile(
  version: ReadVersion,
  next: Uint8Array,
  { path, durability }: UpdateRequest,
): void | Promise<void> {
  const { place, entry, snapshot, bytes } = version
  const { directory, name } = place
  if (name === undefined) throw notAFile(path, 'directory')
  sweepLeftovers(directory)
  const file = beginFile(directory, entry.stat)
  const finish = () => {
    // The look at the name comes last: as little time as possible lies between it and the rename.
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
    `${quotePath(path)} was changed by somebody else after it was read. It is left as they made it. Read it again and repeat the change.`,
    { details: { path }, effect: 'none' },
  )
}
