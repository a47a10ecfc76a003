import { lstatSync } from 'node:fs'
import { SandboxError } from '../sandbox-error.ts'
import { beginFile, checkWritable } from './atomic-write.ts'
import type { PendingFile } from './atomic-write.ts'
import { notAFile, pathInvalid, quotePath, systemCode } from './file-error.ts'
import type { FileGuard } from './file-guard.ts'
import { takeFileLock } from './file-lock.ts'
import { isSameFile, takeSnapshot } from './file-snapshot.ts'
import type { FileSnapshot } from './file-snapshot.ts'
import { kindOf } from './held-directory.ts'
import type { HeldEntry } from './held-directory.ts'
import { holdsBytes, isSmall, readLargeFile, readSmallFile, regularFile } from './read-file.ts'
import type { Semaphore } from './semaphore.ts'
import type { Place } from './walk-path.ts'

/**
 * When a write counts as done. `'fsync'`: when its bytes are on the disk, so that after a power failure the name stands
 * for the old file or the whole new one. `'relaxed'`: when the operating system has it; that survives the death of this
 * process, but a power failure can leave an empty file on some file systems.
 */
export type WriteDurability = 'fsync' | 'relaxed'

export type WriteContent = string | Uint8Array | AsyncIterable<Uint8Array>

interface WriteRequest {
  readonly path: string
  readonly content: WriteContent
  readonly durability: WriteDurability
  /** Refuse when something is there already. */
  readonly exclusive: boolean
}

/** Writes a whole file in one step, creating the directories above it. */
export async function writeContent(
  guard: FileGuard,
  held: Semaphore,
  request: WriteRequest,
): Promise<void> {
  const { path, content, durability } = request
  if (isStream(content)) return guard.run(path, () => writeStream(guard, request, content))
  const bytes = toBytes(content)
  if (durability === 'relaxed' && isSmall(bytes.length)) {
    return guard.run(path, () => writeSmall(guard, request, bytes))
  }
  return inTurn(held, () => guard.run(path, () => writeHeld(guard, request, bytes)))
}

/** Without waiting for the disk there is nothing to wait for at all, unless another call holds the file. */
function writeSmall(
  guard: FileGuard,
  request: WriteRequest,
  bytes: Uint8Array,
): void | Promise<void> {
  const target = openTarget(guard, request)
  let isWaiting = false
  try {
    target.file.writeNow(bytes)
    const committed = commit(guard, target, request)
    if (committed === undefined) return
    isWaiting = true
    return committed.finally(() => closeTarget(target))
  } finally {
    if (!isWaiting) closeTarget(target)
  }
}

async function writeHeld(
  guard: FileGuard,
  request: WriteRequest,
  bytes: Uint8Array,
): Promise<void> {
  const target = openTarget(guard, request)
  try {
    await fill(target.file, bytes, request.durability)
    await commit(guard, target, request)
  } finally {
    closeTarget(target)
  }
}

async function writeStream(
  guard: FileGuard,
  request: WriteRequest,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const target = openTarget(guard, request)
  try {
    for await (const chunk of chunks) await target.file.write(chunk)
    if (request.durability === 'fsync') await target.file.flush()
    await commit(guard, target, request)
  } finally {
    closeTarget(target)
  }
}

interface Target {
  readonly place: Place
  readonly name: string
  readonly file: PendingFile
}

function openTarget(guard: FileGuard, { path, exclusive }: WriteRequest): Target {
  const place = guard.walk(path, {
    lastLink: exclusive ? 'keep' : 'follow',
    hold: 'stat',
    createParents: (parent) => guard.policy.check(parent, 'change'),
  })
  try {
    guard.policy.check(place.relativePath, 'change')
    const { name, stat } = place
    if (name === undefined || place.self !== undefined) throw notAFile(path, 'directory')
    if (stat !== undefined) {
      if (exclusive) throw alreadyExists(path)
      const kind = kindOf(stat)
      if (kind !== 'file') throw notAFile(path, kind)
      guard.policy.checkLinks(place.relativePath, stat)
      checkWritable(place.directory.at(name), stat)
    }
    return { place, name, file: beginFile(place.directory, stat) }
  } catch (error) {
    place.close()
    throw error
  }
}

/** Gives the file its name, under the lock: an edit in this process never loses its change to us. */
function commit(
  guard: FileGuard,
  { place, name, file }: Target,
  request: WriteRequest,
): Promise<void> | undefined {
  const finish = () => {
    if (!request.exclusive) return file.commit(name)
    try {
      file.commitNew(name)
    } catch (error) {
      throw systemCode(error) === 'EEXIST' ? alreadyExists(request.path) : error
    }
  }
  const taken = takeFileLock(guard.lockKey(place))
  if (!(taken instanceof Promise)) {
    try {
      finish()
    } finally {
      taken()
    }
    return undefined
  }
  return taken.then((release) => {
    try {
      finish()
    } finally {
      release()
    }
  })
}

function closeTarget({ file, place }: Target): void {
  file.dispose()
  place.close()
}

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

/** The file with its lock taken. While waiting nothing is held, so afterwards the path is walked again. */
async function lockedPlace(
  guard: FileGuard,
  path: string,
): Promise<{ place: Place; release: () => void }> {
  const walk = () => guard.run(path, () => guard.walk(path, { lastLink: 'follow', hold: 'entry' }))
  for (;;) {
    const first = await walk()
    const key = guard.lockKey(first)
    const taken = takeFileLock(key)
    if (!(taken instanceof Promise)) return { place: first, release: taken }
    first.close()
    const release = await taken
    try {
      const place = await walk()
      if (guard.lockKey(place) === key) return { place, release }
      place.close()
    } catch (error) {
      release()
      throw error
    }
    release()
  }
}

function updatePlace(guard: FileGuard, place: Place, request: UpdateRequest): void | Promise<void> {
  const { path, maxBytes } = request
  guard.policy.check(place.relativePath, 'change')
  const entry = regularFile(place, path)
  guard.policy.checkLinks(place.relativePath, entry.stat)
  checkWritable(entry.self, entry.stat)
  const snapshot = takeSnapshot(entry.stat)
  const replace = (bytes: Buffer): void | Promise<void> => {
    const content = request.change(bytes)
    if (content === undefined) return undefined
    return replaceFile({ place, entry, snapshot, bytes }, toBytes(content), request)
  }
  if (isSmall(entry.stat.size)) return replace(readSmallFile(entry, path, maxBytes))
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

async function fill(
  file: PendingFile,
  bytes: Uint8Array,
  durability: WriteDurability,
): Promise<void> {
  if (isSmall(bytes.length)) file.writeNow(bytes)
  else await file.write(bytes)
  if (durability === 'fsync') await file.flush()
}

async function inTurn<T>(held: Semaphore, work: () => Promise<T>): Promise<T> {
  const turn = held.enter()
  if (turn !== undefined) await turn
  try {
    return await work()
  } finally {
    held.leave()
  }
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content
}

function isStream(content: WriteContent): content is AsyncIterable<Uint8Array> {
  return typeof content === 'object' && Symbol.asyncIterator in content
}

function alreadyExists(path: string): SandboxError {
  return pathInvalid(
    path,
    'exists already. Choose another name, or write it without asking for a new file.',
  )
}

function changedMeanwhile(path: string): SandboxError {
  return new SandboxError(
    'TOOL_FILE_CHANGED',
    `${quotePath(path)} was changed by somebody else after it was read. It is left as they made it. Read it again and repeat the change.`,
    { details: { path }, effect: 'none' },
  )
}
