import type { BigIntStats } from 'node:fs'

/**
 * What the guard can promise. `'beneath'`: every step happens on a descriptor that we hold, so nothing outside the root
 * is ever acted on, whoever renames what meanwhile. `'checked'`: paths are checked before (and changes also after), which
 * another process can race.
 */
export type GuardKind = 'beneath' | 'checked'

/** A directory that the guard has reached, as a place to use single names in. */
export interface DirectoryHandle {
  /** The path that stands for the name `name` in this directory, for one system call that does not follow links. */
  at(name: string): string
  /** The same for a name that is not valid UTF-8. */
  atBytes(name: Buffer): Buffer
  /** The descriptor, where the guard holds one. */
  readonly fd: number | undefined
  /** The path that stands for the directory itself. */
  readonly self: string
  /** `device:inode`: the same directory has the same text, however it was reached. */
  identity(): string
  /** Throws when the path has come to mean another directory. Does nothing where a descriptor makes that impossible. */
  recheck(): void
  close(): void
}

/** What stands at a name: looked at without following, and fixed, so that it cannot be exchanged afterwards. */
export interface EntryHandle {
  readonly stat: BigIntStats
  /** Opens exactly the object that `stat` describes. Flags as for `open(2)`; never creates. */
  open(flags: number): number
  /** A path that stands for exactly this object, for `chmod`. */
  readonly self: string
  close(): void
}

/** One platform's way of holding directories and looking at names without following links. */
export interface DirectoryTree {
  readonly guard: GuardKind
  readonly root: DirectoryHandle
  /** Opens a directory below `parent`. Throws ENOTDIR or ELOOP for anything else, a link included. */
  openDirectory(parent: DirectoryHandle, name: string): DirectoryHandle
  openDirectoryBytes(parent: DirectoryHandle, name: Buffer): DirectoryHandle
  /** Fixes what stands at a name, or undefined when nothing does. */
  openEntry(parent: DirectoryHandle, name: string): EntryHandle | undefined
}

/** The kind of an object, in words for messages and results. */
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
