import { constants, openSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { listEntries, walkEntries } from './directory-entries.ts'
import type { DirectoryEntry, Visible } from './directory-entries.ts'
import { fileNotFound, pathInvalid } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { kindOf } from '../guard/directory-handle.ts'
import type { FileKind, DirectoryHandle } from '../guard/directory-handle.ts'
import type { ResolvedPath } from '../guard/walk-path.ts'

/** The object at a path. */
export interface FileStat {
  /** Relative to the root, every link resolved. */
  readonly path: string
  readonly kind: FileKind
  readonly sizeBytes: number
  /** Permission bits, such as `0o644`. */
  readonly mode: number
  readonly modifiedAtMs: number
  /** Hard links. */
  readonly links: number
}

/** An open directory, for example to start a process in. Close it after use. */
export interface OpenDirectory {
  /** The descriptor; undefined under the guard `'checked'`. */
  readonly fd: number | undefined
  /** Its path when it was opened. */
  readonly absolutePath: string
  /** `''` for the root. */
  readonly relativePath: string
  close(): void
}

export function statPath(
  guard: FileGuard,
  path: string,
  lastLink: 'follow' | 'keep',
): FileStat | undefined {
  const resolved = guard.walk(path, { lastLink, lastEntry: 'stat' })
  try {
    guard.policy.checkResolved(resolved, 'read')
    const { stat } = resolved
    if (stat === undefined) return undefined
    return {
      path: resolved.relativePath,
      kind: kindOf(stat),
      sizeBytes: Number(stat.size),
      mode: Number(stat.mode & 0o7777n),
      modifiedAtMs: Number(stat.mtimeMs),
      links: Number(stat.nlink),
    }
  } finally {
    resolved.close()
  }
}

export function listDirectory(guard: FileGuard, path: string): DirectoryEntry[] {
  const { resolved, self } = enter(guard, path)
  try {
    return listEntries(self, resolved.relativePath, visibleIn(guard))
  } finally {
    resolved.close()
  }
}

/** Every entry below a directory, parents first, links not followed. */
export function* walkDirectory(
  guard: FileGuard,
  path: string,
): Generator<DirectoryEntry, void, void> {
  const { resolved, self } = enter(guard, path)
  try {
    yield* walkEntries(guard.tree, self, resolved.relativePath, visibleIn(guard))
  } finally {
    resolved.close()
  }
}

export function openDirectory(guard: FileGuard, path: string): OpenDirectory {
  const { resolved, self } = enter(guard, path)
  const absolutePath = join(guard.rootDir, resolved.relativePath)
  if (self !== guard.tree.root || self.fd === undefined) {
    return {
      fd: self.fd,
      absolutePath,
      relativePath: resolved.relativePath,
      close: once(() => resolved.close()),
    }
  }
  // A new descriptor: closing the root's own would end every other operation.
  const fd = openSync(self.self, constants.O_RDONLY | constants.O_DIRECTORY)
  resolved.close()
  return { fd, absolutePath, relativePath: '', close: once(() => closeSync(fd)) }
}

function enter(guard: FileGuard, path: string): { resolved: ResolvedPath; self: DirectoryHandle } {
  let resolved: ResolvedPath
  try {
    // The final dot makes the walk enter the directory.
    resolved = guard.walk(typeof path === 'string' && path !== '' ? `${path}/.` : path, {
      lastLink: 'follow',
      lastEntry: 'stat',
    })
  } catch (error) {
    throw translate(error, path)
  }
  try {
    guard.policy.checkResolved(resolved, 'read')
    if (resolved.self === undefined) throw fileNotFound(path)
    return { resolved, self: resolved.self }
  } catch (error) {
    resolved.close()
    throw error
  }
}

function translate(error: unknown, path: string): unknown {
  if (SandboxError.isInstance(error)) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOTDIR') return pathInvalid(path, 'is not a directory.')
  return error
}

function visibleIn(guard: FileGuard): Visible {
  return (path) => guard.policy.denied(path) === undefined
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    work()
  }
}
