import { readdirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { kindOf } from '../guard/directory-handle.ts'
import type { DirectoryTree, FileKind, DirectoryHandle } from '../guard/directory-handle.ts'
import type { SandboxError } from '../../errors/sandbox-error.ts'
import { pathInvalid, systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'

/** One name in a directory. Links are told as links. */
export interface DirectoryEntry {
  /** The name alone. */
  readonly name: string
  /** Relative to the root, joined by `/`. */
  readonly path: string
  readonly kind: FileKind
}

/** Which paths, relative to the root, are shown. */
export type Visible = (path: string) => boolean

/** The visible entries of a held directory, in the order of their names' code units. */
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
 * Goes through a tree from the top, directories before what they hold, never through a link.
 * Deeper than `maxWalkDepth` is an error.
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
      // To stop short silently would tell a rule that nothing is below.
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
    `is more than ${fileLimits.maxWalkDepth} directories down. Begin further down, or remove it.`,
  )
}

/** The directory at a name, or undefined when it has gone or turned into something else since it was listed. */
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
