import { closeSync, constants, ftruncateSync, openSync } from 'node:fs'
import { retryExchanged } from '../guard/checked-tree.ts'
import { alreadyExists, fileNotFound, systemCode } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { fileLimits } from '../file-limits.ts'
import { isSmall, readLargeFile, readSmallFile, regularFile } from '../io/read-file.ts'
import { inTurn } from '../io/semaphore.ts'
import type { Semaphore } from '../io/semaphore.ts'
import type { Place } from '../guard/walk-path.ts'

/** How {@link SandboxFiles.open} opens. */
export interface OpenOptions {
  /** `'write'` and `'append'` write in place: a crash can leave half of it. @default 'read' */
  readonly access?: 'read' | 'write' | 'append' | 'read-write'
  /** Creates the file when nothing is there; `'exclusive'` refuses when something is. @default false */
  readonly create?: boolean | 'exclusive'
  /** Empties the file, after it has passed every check. @default false */
  readonly truncate?: boolean
}

/** An open regular file inside the root. Use `fd` with `node:fs`, then close. */
export interface SandboxFile {
  readonly fd: number
  /** Where the path led: relative to the root, every link resolved. */
  readonly relativePath: string
  /** Size when it was opened. */
  readonly sizeBytes: number
  close(): void
  [Symbol.dispose](): void
}

interface ReadRequest<T> {
  readonly path: string
  readonly maxBytes: number
  /** What the bytes are wanted as. They are valid only during the call. */
  readonly convert: (bytes: Buffer) => T
}

/** Reads a regular file: a small one at once, a large one through the thread pool. */
export function readContent<T>(
  guard: FileGuard,
  held: Semaphore,
  request: ReadRequest<T>,
): Promise<T> {
  const { path, maxBytes, convert } = request
  return guard.run(path, () => {
    const small = retryExchanged(() => {
      const place = openPlace(guard, path)
      try {
        const entry = regularFile(place, path)
        const isLarge = !isSmall(entry.stat.size) && entry.stat.size <= BigInt(maxBytes)
        return isLarge ? undefined : readSmallFile(entry, path, maxBytes, convert)
      } finally {
        place.close()
      }
    })
    return small === undefined ? readLarge(guard, held, request) : small.value
  })
}

/** Walks again, with a turn among those that hold descriptors for longer. */
function readLarge<T>(
  guard: FileGuard,
  held: Semaphore,
  { path, maxBytes, convert }: ReadRequest<T>,
): Promise<T> {
  return inTurn(held, async () => {
    const place = openPlace(guard, path)
    try {
      return convert(await readLargeFile(regularFile(place, path), path, maxBytes))
    } finally {
      place.close()
    }
  })
}

function openPlace(guard: FileGuard, path: string): Place {
  const place = guard.walk(path, { lastLink: 'follow', hold: 'entry' })
  try {
    guard.policy.checkPlace(place, 'read')
    return place
  } catch (error) {
    place.close()
    throw error
  }
}

/** Opens a regular file, checking it before anything is done to it. */
export function openFile(guard: FileGuard, path: string, options: OpenOptions): SandboxFile {
  const { access = 'read', create = false, truncate = false } = options
  for (let tries = 1; ; tries += 1) {
    const place = retryExchanged(() => guard.walk(path, { lastLink: 'follow', hold: 'entry' }))
    try {
      guard.policy.checkPlace(place, access === 'read' && create === false ? 'read' : 'write')
      if (place.entry !== undefined) {
        if (create === 'exclusive') throw alreadyExists(path)
        return openExisting(guard, place, path, access, truncate)
      }
      if (create === false || place.name === undefined) throw fileNotFound(path)
      const flags =
        accessFlags[access] | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
      place.directory.recheck()
      const fd = openSync(place.directory.at(place.name), flags, 0o666)
      return sandboxFile(fd, place.relativePath, 0)
    } catch (error) {
      // Somebody created it between the look and the opening: then it exists, and is looked at again.
      if (systemCode(error) !== 'EEXIST' || create === 'exclusive' || tries === fileLimits.maxWalks)
        throw error
    } finally {
      place.close()
    }
  }
}

const accessFlags = {
  read: constants.O_RDONLY,
  write: constants.O_WRONLY,
  append: constants.O_WRONLY | constants.O_APPEND,
  'read-write': constants.O_RDWR,
} as const

function openExisting(
  guard: FileGuard,
  place: Place,
  path: string,
  access: NonNullable<OpenOptions['access']>,
  truncate: boolean,
): SandboxFile {
  const entry = regularFile(place, path)
  if (access !== 'read') guard.policy.checkLinks(place.relativePath, entry.stat)
  const fd = entry.open(accessFlags[access])
  try {
    if (truncate) ftruncateSync(fd)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return sandboxFile(fd, place.relativePath, truncate ? 0 : Number(entry.stat.size))
}

function sandboxFile(fd: number, relativePath: string, sizeBytes: number): SandboxFile {
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    closeSync(fd)
  }
  return { fd, relativePath, sizeBytes, close, [Symbol.dispose]: close }
}
