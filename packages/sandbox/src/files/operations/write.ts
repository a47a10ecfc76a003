import { beginFile, checkWritable, fill } from '../io/atomic-write.ts'
import type { PendingFile, WriteDurability } from '../io/atomic-write.ts'
import { alreadyExists, notAFile, systemCode, toFileError } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { takeFileLock } from '../io/file-lock.ts'
import type { Release } from '../io/file-lock.ts'
import { kindOf } from '../guard/directory-handle.ts'
import { isSmall } from '../io/read-file.ts'
import { inTurn } from '../io/semaphore.ts'
import type { Semaphore } from '../io/semaphore.ts'
import { sweepLeftovers } from '../io/sweep-leftovers.ts'
import { toBytes, toBytesForNow } from '../io/text-encoding.ts'
import { WouldCreate, type ResolvedPath } from '../guard/walk-path.ts'

/** Contents to write: text (encoded as UTF-8), bytes, or a stream of both. */
export type WriteContent = string | Uint8Array | AsyncIterable<string | Uint8Array>

interface WriteRequest {
  readonly path: string
  readonly content: WriteContent
  readonly durability: WriteDurability
  /** Refuse to replace anything. */
  readonly exclusive: boolean
}

/** Writes a whole file atomically and creates missing parent directories. */
export function writeContent(
  guard: FileGuard,
  slots: Semaphore,
  request: WriteRequest,
): Promise<void> {
  const { path, content, durability } = request
  if (isStream(content)) return guard.run(path, () => writeStream(guard, request, content))
  if (durability === 'relaxed' && isSmall(sizeBound(content))) {
    return guard.run(path, () => writeSmall(guard, request, toBytesForNow(content)))
  }
  return inTurn(slots, () =>
    guard.run(path, () => writeHeld(guard, request, toBytesForNow(content))),
  )
}

/** An upper bound of the UTF-8 size without counting: three bytes per UTF-16 unit. */
function sizeBound(content: string | Uint8Array): number {
  if (typeof content === 'string') return content.length * 3
  return ArrayBuffer.isView(content) ? content.byteLength : 0
}

/** Waits only when another call has locked the file. */
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
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const target = openTarget(guard, request)
  try {
    for await (const chunk of chunks) {
      guard.checkOpen()
      await target.file.write(toBytes(chunk))
    }
    if (request.durability === 'fsync') await target.file.flush()
    await commit(guard, target, request)
  } finally {
    closeTarget(target)
  }
}

interface Target {
  readonly resolved: ResolvedPath
  readonly name: string
  readonly file: PendingFile
}

/** Throws the error with which a write of the whole file would be refused. Changes nothing. */
export function checkWriting(guard: FileGuard, path: string): void {
  try {
    const resolved = guard.walk(path, {
      lastLink: 'follow',
      lastEntry: 'stat',
      createParents: (parent) => guard.policy.check(parent, 'change'),
      creates: 'file',
      isDryRun: true,
    })
    try {
      checkTarget(guard, resolved, { path, exclusive: false })
    } finally {
      resolved.close()
    }
  } catch (error) {
    if (!(error instanceof WouldCreate)) throw toFileError(error, path)
  }
}

/** Checks the target and returns the name to write. */
function checkTarget(
  guard: FileGuard,
  resolved: ResolvedPath,
  { path, exclusive }: Pick<WriteRequest, 'path' | 'exclusive'>,
): string {
  guard.policy.checkResolved(resolved, 'write')
  const { name, stat } = resolved
  if (name === undefined || resolved.self !== undefined) throw notAFile(path, 'directory')
  if (stat !== undefined) {
    if (exclusive) throw alreadyExists(path)
    const kind = kindOf(stat)
    if (kind !== 'file') throw notAFile(path, kind)
    guard.policy.checkLinks(resolved.relativePath, stat)
    checkWritable(resolved.directory.at(name), stat)
  }
  return name
}

function openTarget(guard: FileGuard, request: WriteRequest): Target {
  let isNewDirectory = false
  const resolved = guard.walk(request.path, {
    lastLink: request.exclusive ? 'keep' : 'follow',
    // The handle keeps a replaced file until it is closed later.
    lastEntry: 'open',
    createParents: (parent) => {
      guard.policy.check(parent, 'change')
      isNewDirectory = true
    },
    creates: 'file',
  })
  try {
    const name = checkTarget(guard, resolved, request)
    const { stat } = resolved
    if (!isNewDirectory) sweepLeftovers(resolved.directory)
    return { resolved, name, file: beginFile(resolved.directory, stat) }
  } catch (error) {
    resolved.close()
    throw error
  }
}

/** Gives the file its name under the lock, so that a write never discards a concurrent edit. */
function commit(
  guard: FileGuard,
  { resolved, name, file }: Target,
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
  const taken = takeFileLock(guard.lockKey(resolved))
  if (!(taken instanceof Promise)) {
    try {
      finish()
    } finally {
      taken()
    }
    return undefined
  }
  return finishUnder(taken, finish)
}

async function finishUnder(taken: Promise<Release>, finish: () => void): Promise<void> {
  const release = await taken
  try {
    finish()
  } finally {
    release()
  }
}

function closeTarget({ file, resolved }: Target): void {
  file.dispose()
  resolved.closeLater()
}

function isStream(content: WriteContent): content is AsyncIterable<string | Uint8Array> {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content
}
