import { readdirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { kindOf } from '../guard/directory-handle.ts'
import type { DirectoryTree, FileKind, DirectoryHandle } from '../guard/directory-handle.ts'
import type { SandboxError } from '../../errors/sandbox-error.ts'
import { pathInvalid, systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'

/** One entry of a directory. Links are not followed. */
export interface DirectoryEntry {
  /** The name alone. */
  readonly name: string
  /** Relative to the root, joined by `/`. */
  readonly path: string
  readonly kind: FileKind
}

/** Whether to show a path, which is relative to the root. */
export type Visible = (path: string) => boolean

/** The visible entries of an open directory, sorted by the code units of their names. */
export function listEntries(
  directory: DirectoryHandle,
  relativePath: string,
  visible: Visible,
): DirectoryEntry[] {
  directory.recheck()
  return readdirSync(directory.self, { withFileTypes: true })
    .map((entry) => describe(entry, relativePath))
    .filter((entry) => visible(entry.path))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Walks a tree, directories before their contents, without following links. Throws for a tree deeper than
 * `maxWalkDepth`.
 */
export function* walkEntries(
  tree: DirectoryTree,
  top: DirectoryHandle,
  topPath: string,
  visible: Visible,
): Generator<DirectoryEntry, void, void> {
  const levels: { directory: DirectoryHandle; entries: DirectoryEntry[] }[] = []
  try {
    levels.push({ directory: top, entries: listEntries(top, topPath, visible).toReversed() })
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const entry = level.entries.pop()
      if (entry === undefined) {
        levels.pop()
        if (level.directory !== top) level.directory.close()
        continue
      }
      yield entry
      if (entry.kind !== 'directory') continue
      // Stopping silently would hide entries from a rule.
      if (levels.length >= fileLimits.maxWalkDepth) throw tooDeep(entry.path)
      const directory = openIfDirectory(tree, level.directory, entry.name)
      if (directory === undefined) continue
      const below = { directory, entries: [] as DirectoryEntry[] }
      levels.push(below)
      below.entries = listEntries(directory, entry.path, visible).toReversed()
    }
  } finally {
    for (const { directory } of levels) if (directory !== top) directory.close()
  }
}

function tooDeep(path: string): SandboxError {
  return pathInvalid(
    path,
    `is more than ${fileLimits.maxWalkDepth} directories deep. Start in a deeper directory, or remove it.`,
  )
}

/** Opens the directory at a name; undefined when it has been removed or replaced since it was listed. */
function openIfDirectory(
  tree: DirectoryTree,
  parent: DirectoryHandle,
  name: string,
): DirectoryHandle | undefined {
  try {
    return tree.openDirectory(parent, name)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(systemCode(error) ?? '')) return undefined
    throw error
  }
}

function describe(entry: Dirent, relativePath: string): DirectoryEntry {
  const path = relativePath === '' ? entry.name : `${relativePath}/${entry.name}`
  return { name: entry.name, path, kind: kindOf(entry) }
}
