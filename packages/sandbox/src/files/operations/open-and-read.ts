import { closeSync, constants, ftruncateSync, openSync } from 'node:fs'
import { retryExchanged } from '../guard/checked-tree.ts'
import { alreadyExists, fileNotFound, systemCode } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { fileLimits } from '../file-limits.ts'
import { isSmall, readLargeFile, readSmallFile, regularFile } from '../io/read-file.ts'
import { inTurn } from '../io/semaphore.ts'
import type { Semaphore } from '../io/semaphore.ts'
import type { ResolvedPath } from '../guard/walk-path.ts'

/** How {@link SandboxFiles.open} opens. */
export interface OpenOptions {
  /** `'write'` and `'append'` write in place, so a crash can leave a partial file. @default 'read' */
  readonly access?: 'read' | 'write' | 'append' | 'read-write'
  /** Creates a missing file; `'exclusive'` refuses an existing one. @default false */
  readonly create?: boolean | 'exclusive'
  /** Empties the file after every check has passed. @default false */
  readonly truncate?: boolean
}

/** An open regular file inside the root. Use `fd` with `node:fs`, then close. */
export interface SandboxFile {
  readonly fd: number
  /** The path relative to the root, with every link resolved. */
  readonly relativePath: string
  /** Size when it was opened. */
  readonly sizeBytes: number
  close(): void
  [Symbol.dispose](): void
}

interface ReadRequest<T> {
  readonly path: string
  readonly maxBytes: number
  /** Converts the bytes, which are valid only during the call. */
  readonly convert: (bytes: Buffer) => T
}

/** Reads a regular file: a small one on the calling thread, a large one through the thread pool. */
export function readContent<T>(
  guard: FileGuard,
  slots: Semaphore,
  request: ReadRequest<T>,
): Promise<T> {
  const { path, maxBytes, convert } = request
  return guard.run(path, () => {
    const small = retryExchanged(() => {
      const resolved = resolveForReading(guard, path)
      try {
        const entry = regularFile(resolved, path)
        const isLarge = !isSmall(entry.stat.size) && entry.stat.size <= BigInt(maxBytes)
        return isLarge ? undefined : readSmallFile(entry, path, maxBytes, convert)
      } finally {
        resolved.close()
      }
    })
    return small === undefined ? readLarge(guard, slots, request) : small.value
  })
}

/** Walks again in a slot, since the descriptors stay open across turns. */
function readLarge<T>(
  guard: FileGuard,
  slots: Semaphore,
  { path, maxBytes, convert }: ReadRequest<T>,
): Promise<T> {
  return inTurn(slots, async () => {
    const resolved = resolveForReading(guard, path)
    try {
      return convert(await readLargeFile(regularFile(resolved, path), path, maxBytes))
    } finally {
      resolved.close()
    }
  })
}

function resolveForReading(guard: FileGuard, path: string): ResolvedPath {
  const resolved = guard.walk(path, { lastLink: 'follow', lastEntry: 'open' })
  try {
    guard.policy.checkResolved(resolved, 'read')
    return resolved
  } catch (error) {
    resolved.close()
    throw error
  }
}

/** Opens a regular file after checking it. */
export function openFile(guard: FileGuard, path: string, options: OpenOptions): SandboxFile {
  const { access = 'read', create = false, truncate = false } = options
  for (let tries = 1; ; tries += 1) {
    const resolved = retryExchanged(() =>
      guard.walk(path, { lastLink: 'follow', lastEntry: 'open' }),
    )
    try {
      guard.policy.checkResolved(resolved, access === 'read' && create === false ? 'read' : 'write')
      if (resolved.entry !== undefined) {
        if (create === 'exclusive') throw alreadyExists(path)
        return openExisting(guard, resolved, path, access, truncate)
      }
      if (create === false || resolved.name === undefined) throw fileNotFound(path)
      const flags =
        accessFlags[access] | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
      resolved.directory.recheck()
      const fd = openSync(resolved.directory.at(resolved.name), flags, 0o666)
      return sandboxFile(fd, resolved.relativePath, 0)
    } catch (error) {
      // Another process created it between the check and the open: check again.
      if (systemCode(error) !== 'EEXIST' || create === 'exclusive' || tries === fileLimits.maxWalks)
        throw error
    } finally {
      resolved.close()
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
  resolved: ResolvedPath,
  path: string,
  access: NonNullable<OpenOptions['access']>,
  truncate: boolean,
): SandboxFile {
  const entry = regularFile(resolved, path)
  if (access !== 'read') guard.policy.checkLinks(resolved.relativePath, entry.stat)
  const fd = entry.open(accessFlags[access])
  try {
    if (truncate) ftruncateSync(fd)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return sandboxFile(fd, resolved.relativePath, truncate ? 0 : Number(entry.stat.size))
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
