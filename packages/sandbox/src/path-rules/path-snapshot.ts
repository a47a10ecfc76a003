import { readdirSync, type Stats } from 'node:fs'
import { systemCode } from '../files/file-error.ts'
import { lookupFailure } from './lookup-error.ts'
import type { RootStatCache } from './root-stat-cache.ts'

/** One name at one moment. */
export interface PathState {
  readonly kind: 'file' | 'directory' | 'link' | 'other' | 'unknown'
  /** Differs after any change; of `'unknown'`, the error. */
  readonly stamp: string
  readonly mode: number
  readonly size: number
  /** False for a directory with more entries than were looked up: its own times then stand in for the rest. */
  readonly isWhole: boolean
}

/** The watched names that exist, and everything in them: path from the root → state. */
export type PathSnapshot = ReadonlyMap<string, PathState>

/** Entries of one watched name that are looked up. */
const maxEntries = 2_000

/** Looks up names and, in directories, everything below them. */
export function takePathSnapshot(root: RootStatCache, names: readonly string[]): PathSnapshot {
  const snapshot = new Map<string, PathState>()
  for (const name of root.existing(names)) {
    const isGitDirectory = name === '.git' || name.endsWith('/.git')
    addToSnapshot(root, name, { snapshot, left: maxEntries, isShallow: isGitDirectory })
  }
  return snapshot
}

interface Search {
  readonly snapshot: Map<string, PathState>
  /** Entries still to look up below this name; its own top entry always is. */
  left: number
  /** Only other kinds than directories count: in `.git` itself everything may change. */
  readonly isShallow: boolean
}

function addToSnapshot(root: RootStatCache, path: string, search: Search): void {
  const { snapshot } = search
  const stats = root.at(path)
  if (stats === undefined) return
  if (typeof stats === 'string') {
    snapshot.set(path, unknown(stats))
    return
  }
  const { ino, size, ctimeMs, mode } = stats
  if (!stats.isDirectory()) {
    const stamp = `${ino} ${size} ${ctimeMs} ${mode}`
    snapshot.set(path, { kind: kindOf(stats), stamp, mode, size, isWhole: true })
    return
  }
  if (search.isShallow) return
  const entries = entriesOf(`${root.rootDir}/${path}`)
  if (typeof entries === 'string') {
    snapshot.set(path, unknown(entries))
    return
  }
  const isWhole = entries.length <= search.left
  const stamp = `${ino} ${mode}${isWhole ? '' : ` ${ctimeMs}`}`
  snapshot.set(path, { kind: 'directory', stamp, mode, size, isWhole })
  for (const entry of entries.toSorted().slice(0, search.left)) {
    if (search.left <= 0) return
    search.left -= 1
    addToSnapshot(root, `${path}/${entry}`, search)
  }
}

function unknown(error: string): PathState {
  return { kind: 'unknown', stamp: error, mode: 0, size: 0, isWhole: true }
}

function kindOf(stats: Stats): PathState['kind'] {
  if (stats.isFile()) return 'file'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

function entriesOf(directory: string): readonly string[] | string {
  try {
    return readdirSync(directory)
  } catch (error) {
    // Removed since: as if it had been empty.
    return lookupFailure(error) === 'absent' ? [] : (systemCode(error) ?? 'unknown error')
  }
}
