import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryTree, DirectoryHandle } from '../guard/directory-handle.ts'

/**
 * Empties an open directory by descriptor. Removes links without following them. Yields regularly, so that the caller can
 * let the event loop turn.
 *
 * A directory at the depth limit moves to the top of the tree being removed, under a new name, and is removed there. A
 * deep tree therefore costs neither stack nor descriptors.
 *
 * Names are bytes, so that names that are not UTF-8 can be removed too.
 *
 * With `force`, a directory that denies its removal is given the permissions for it, and what cannot be removed all the
 * same is left while its siblings go. Without, the first error is thrown.
 */
export function* emptyDirectory(
  tree: DirectoryTree,
  top: DirectoryHandle,
  { force = false }: { readonly force?: boolean } = {},
): Generator<void, void, void> {
  const attempt: Attempt = force ? openAndTryAgain : (_, action) => action()
  const levels: Level[] = [{ directory: top, name: undefined, entries: [] }]
  attempt(top, () => (levels[0]!.entries = entriesOf(top)))
  let rounds = 0
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const entry = level.entries.pop()
      if (entry === undefined) {
        if (level.name === undefined) {
          // Entries moved up here, or created meanwhile by other processes, are removed in another round.
          level.entries = entriesOf(top)
          rounds += 1
          if (level.entries.length === 0 || rounds > fileLimits.maxRemoveRounds) return
          continue
        }
        levels.pop()
        level.directory.close()
        const parent = levels.at(-1)?.directory ?? top
        const { name } = level
        attempt(parent, () => removeEmpty(parent, name))
      } else if (entry.isDirectory()) {
        const { directory } = level
        if (levels.length < fileLimits.maxOpenDepth) {
          attempt(directory, () => descend({ tree, levels, attempt }, directory, entry.name))
        } else {
          attempt(directory, () => moveUp({ tree, force }, directory, entry.name, top))
        }
      } else {
        const { directory } = level
        attempt(directory, () => removeName(directory, entry.name))
      }
      yield
    }
  } finally {
    for (const { directory } of levels) if (directory !== top) directory.close()
  }
}

/** Does something to an entry of a directory. */
type Attempt = (directory: DirectoryHandle, action: () => void) => void

const openAndTryAgain: Attempt = (directory, action) => {
  try {
    action()
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EACCES' && code !== 'EPERM') return
    try {
      makeAccessible(directory)
      action()
    } catch {
      // Of another user, or on a file system that refuses: it stays.
    }
  }
}

/** By descriptor: never another directory that has its name by now. */
function makeAccessible({ fd }: DirectoryHandle): void {
  if (fd !== undefined) chmodSync(`/proc/self/fd/${fd}`, 0o700)
}

interface Level {
  readonly directory: DirectoryHandle
  /** Undefined for the top, which the caller removes. */
  readonly name: Buffer | undefined
  entries: Dirent<Buffer>[]
}

function entriesOf(directory: DirectoryHandle): Dirent<Buffer>[] {
  directory.recheck()
  return readdirSync(directory.self, { withFileTypes: true, encoding: 'buffer' })
}

function descend(
  {
    tree,
    levels,
    attempt,
  }: { readonly tree: DirectoryTree; readonly levels: Level[]; readonly attempt: Attempt },
  parent: DirectoryHandle,
  name: Buffer,
): void {
  let directory: DirectoryHandle
  try {
    directory = tree.openDirectoryBytes(parent, name)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return
    // It was a directory when listed and is a link or file now.
    if (code === 'ENOTDIR' || code === 'ELOOP') return removeName(parent, name)
    throw error
  }
  const level: Level = { directory, name, entries: [] }
  levels.push(level)
  attempt(directory, () => (level.entries = entriesOf(directory)))
}

function removeName(parent: DirectoryHandle, name: Buffer): void {
  try {
    parent.recheck()
    unlinkSync(parent.atBytes(name))
  } catch (error) {
    const code = systemCode(error)
    // EISDIR: it is a directory now, which the next listing finds.
    if (code !== 'ENOENT' && code !== 'EISDIR') throw error
  }
}

function removeEmpty(parent: DirectoryHandle, name: Buffer): void {
  try {
    parent.recheck()
    rmdirSync(parent.atBytes(name))
  } catch (error) {
    const code = systemCode(error)
    // ENOTEMPTY: another process created something meanwhile; the next round finds it.
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'ENOTDIR') throw error
  }
}

function moveUp(
  { tree, force }: { readonly tree: DirectoryTree; readonly force: boolean },
  parent: DirectoryHandle,
  name: Buffer,
  top: DirectoryHandle,
): void {
  try {
    if (force) {
      // Its entry `..` changes with the move.
      const moved = tree.openDirectoryBytes(parent, name)
      try {
        makeAccessible(moved)
      } finally {
        moved.close()
      }
    }
    renameSync(parent.atBytes(name), top.at(`.smithers-${crypto.randomUUID()}.removing`))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
