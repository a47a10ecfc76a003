import { readdirSync, type Stats, constants, readlinkSync } from 'node:fs'
import { systemCode } from '../files/file-error.ts'
import type { OpenRoot } from '../files/open-root.ts'
import { lookupFailure } from './lookup-error.ts'
import type { RootStatCache } from './root-stat-cache.ts'
import { inParent } from './in-parent.ts'
import { readFileHead } from '../files/io/read-file-head.ts'

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
  const entries = entriesOf(`${root.handle}/${path}`)
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

/** The content of a file or the target of a link, to compare and to put back. */
export interface SavedContent {
  readonly kind: 'file' | 'link'
  readonly bytes: Buffer
  readonly mode: number
}

/** Larger files, and files beyond the total, are compared but cannot be put back. */
const maxFileBytes = 4 * 1024 * 1024
const maxTotalBytes = 32 * 1024 * 1024

/** Reads a path without following links; `undefined` when it is too large, another kind, or cannot be read. */
export function readContent(
  root: OpenRoot,
  path: string,
  state: PathState,
): SavedContent | undefined {
  if (state.size > maxFileBytes) return undefined
  try {
    if (state.kind === 'link') {
      const bytes = inParent(root, path, (name) => readlinkSync(name, 'buffer'))
      return { kind: 'link', bytes, mode: 0o777 }
    }
    if (state.kind !== 'file') return undefined
    const bytes = inParent(root, path, (name) => readFileHead(name, maxFileBytes + 1))
    if (bytes === undefined || bytes.length > maxFileBytes) return undefined
    return { kind: 'file', bytes, mode: state.mode & permissionBits }
  } catch {
    return undefined
  }
}

const permissionBits =
  (constants.S_IRWXU ?? 0) | (constants.S_IRWXG ?? 0) | (constants.S_IRWXO ?? 0)

/** The contents of a snapshot; files that did not change since the last one are not read again. */
export class SavedContents {
  #saved: ReadonlyMap<string, { readonly stamp: string; readonly content: SavedContent }> =
    new Map()

  save(root: OpenRoot, snapshot: PathSnapshot): ReadonlyMap<string, SavedContent> {
    const saved = new Map<string, { stamp: string; content: SavedContent }>()
    const contents = new Map<string, SavedContent>()
    let left = maxTotalBytes
    for (const [path, state] of snapshot) {
      if (state.kind !== 'file' && state.kind !== 'link') continue
      if (state.size > left) continue
      const known = this.#saved.get(path)
      const content = known?.stamp === state.stamp ? known.content : readContent(root, path, state)
      if (content === undefined) continue
      left -= content.bytes.length
      saved.set(path, { stamp: state.stamp, content })
      contents.set(path, content)
    }
    this.#saved = saved
    return contents
  }
}
