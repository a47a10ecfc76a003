import { opendirSync, unlinkSync } from 'node:fs'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryHandle } from '../guard/directory-handle.ts'
import { isLeftover, knowsWriters } from './temporary-name.ts'

/** When each directory was last swept, in `performance.now()`. */
const swept = new Map<string, number>()

/**
 * Removes what writers that were killed have left in a directory that is about to be written to. Not on every write:
 * looking costs as much as writing a small file.
 *
 * *Guarantees*: only names of our own pattern go, in a directory that is held by descriptor, and only when their writer
 * is gone for certain. *Does not* find what lies beyond the first names of a very large directory.
 */
export function sweepLeftovers(directory: DirectoryHandle): void {
  if (directory.fd === undefined || !knowsWriters()) return
  const identity = directory.identity()
  const now = performance.now()
  const last = swept.get(identity)
  if (last !== undefined && now - last < fileLimits.sweepIntervalMs) return
  if (swept.size >= fileLimits.maxSweptDirectories) swept.clear()
  swept.set(identity, now)
  try {
    for (const name of firstNames(directory)) {
      if (isLeftover(name)) unlinkSync(directory.at(name))
    }
  } catch {
    // A directory that may be written to and not read, or somebody who sweeps it too: the write itself goes on.
  }
}

function firstNames(directory: DirectoryHandle): string[] {
  const names: string[] = []
  const handle = opendirSync(directory.self)
  try {
    while (names.length < fileLimits.maxSweptNames) {
      const entry = handle.readSync()
      if (entry === null) break
      names.push(entry.name)
    }
  } finally {
    handle.closeSync()
  }
  return names
}
