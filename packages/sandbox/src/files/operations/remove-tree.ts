import { readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
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
 */
export function* emptyDirectory(
  tree: DirectoryTree,
  top: DirectoryHandle,
): Generator<void, void, void> {
  const levels: Level[] = [{ directory: top, name: undefined, entries: entriesOf(top) }]
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
        removeEmpty(parent, level.name)
      } else if (entry.isDirectory()) {
        if (levels.length >= fileLimits.maxOpenDepth) moveUp(level.directory, entry.name, top)
        else descend(tree, levels, level.directory, entry.name)
      } else {
        removeName(level.directory, entry.name)
      }
      yield
    }
  } finally {
    for (const { directory } of levels) if (directory !== top) directory.close()
  }
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
  tree: DirectoryTree,
  levels: Level[],
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
  levels.push({ directory, name, entries: [] })
  const level = levels.at(-1)
  if (level !== undefined) level.entries = entriesOf(directory)
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

function moveUp(parent: DirectoryHandle, name: Buffer, top: DirectoryHandle): void {
  try {
    renameSync(parent.atBytes(name), top.at(`.smithers-${crypto.randomUUID()}.removing`))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
