import { opendirSync, unlinkSync } from 'node:fs'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryHandle } from '../guard/directory-handle.ts'
import { isLeftover, knowsWriters } from './temporary-name.ts'

/** When each directory was last swept, in `performance.now()`. */
const swept = new Map<string, number>()

/**
 * Removes temporary files of killed writers from a directory before a write. Not before every write, since the search
 * costs as much as writing a small file.
 *
 * *Guarantees*: removes only names of our own pattern, in a directory open by descriptor, whose writer is certainly gone.
 * *Does not* search beyond the first names of a very large directory.
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
    // The directory is not readable, or another process sweeps it too. The write continues.
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
