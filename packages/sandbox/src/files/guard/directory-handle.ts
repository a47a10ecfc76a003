import type { BigIntStats } from 'node:fs'

/**
 * What the guard guarantees. `'beneath'`: every step uses an open descriptor, so renames by other processes cannot
 * redirect it outside the root. `'checked'`: paths are checked before, and changes also after, which another process can
 * race.
 */
export type GuardKind = 'beneath' | 'checked'

/** A directory the guard has reached. Operations use single names in it. */
export interface DirectoryHandle {
  /** The path of `name` in this directory, for one system call that does not follow links. */
  at(name: string): string
  /** The same for a name that is not valid UTF-8. */
  atBytes(name: Buffer): Buffer
  /** The descriptor; undefined under the guard `'checked'`. */
  readonly fd: number | undefined
  /** A path of the directory itself. */
  readonly self: string
  /** `device:inode`: equal for the same directory, by whatever path it was reached. */
  identity(): string
  /** Throws when the path now leads to another directory. Does nothing where a descriptor makes that impossible. */
  recheck(): void
  close(): void
}

/** An object in a directory, opened without following a link. Replacing the name later does not affect it. */
export interface EntryHandle {
  readonly stat: BigIntStats
  /** Opens exactly the object that `stat` describes. Flags as for `open(2)`; never creates. */
  open(flags: number): number
  /** A path of exactly this object, for `chmod`. */
  readonly self: string
  close(): void
  /**
   * Closes in the thread pool, without waiting. For a file that was replaced: with its last handle the file system frees
   * its blocks, which takes longer than the rest of a write.
   */
  closeLater(): void
}

/** How one platform opens directories and entries without following links. */
export interface DirectoryTree {
  readonly guard: GuardKind
  readonly root: DirectoryHandle
  /** Opens a directory below `parent`. Throws ENOTDIR or ELOOP for anything else, a link included. */
  openDirectory(parent: DirectoryHandle, name: string): DirectoryHandle
  openDirectoryBytes(parent: DirectoryHandle, name: Buffer): DirectoryHandle
  /**
   * Opens a handle on the object at a name; undefined when the name does not exist. `isLikelyMissing` changes nothing but
   * the cost: a missing name then costs little, an existing one a little more.
   */
  openEntry(
    parent: DirectoryHandle,
    name: string,
    isLikelyMissing?: boolean,
  ): EntryHandle | undefined
}

/** The kind of an object, as messages and results name it. */
export type FileKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device'

interface Kinds {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
  isFIFO(): boolean
  isSocket(): boolean
}

export function kindOf(stat: Kinds): FileKind {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  if (stat.isSymbolicLink()) return 'symlink'
  if (stat.isFIFO()) return 'fifo'
  return stat.isSocket() ? 'socket' : 'device'
}
