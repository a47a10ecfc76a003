import { chmodSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { walkEntries } from './directory-entries.ts'
import { fileNotFound, pathInvalid, quotePath, systemCode, toFileError } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { fileLimits } from '../file-limits.ts'
import { emptyDirectory } from './remove-tree.ts'
import type { Place } from '../guard/walk-path.ts'

/** Creates a directory and those above it. One that exists is fine. */
export function makeDirectory(guard: FileGuard, path: string): void {
  const place = guard.walk(path, {
    lastLink: 'follow',
    hold: 'stat',
    createParents: (parent) => guard.policy.check(parent, 'change'),
  })
  try {
    const { name, stat, directory } = place
    if (stat?.isDirectory() === true) return
    if (stat !== undefined || name === undefined)
      throw pathInvalid(path, 'exists and is not a directory.')
    guard.policy.checkPlace(place, 'change')
    directory.recheck()
    try {
      mkdirSync(directory.at(name))
    } catch (error) {
      // Created by somebody else meanwhile: as good as ours when it is a directory.
      if (systemCode(error) !== 'EEXIST') throw error
      guard.tree.openDirectory(directory, name).close()
    }
    directory.recheck()
  } finally {
    place.close()
  }
}

/** Renames a file, link or directory, replacing a file that has the new name, as rename(2) does. */
export function renameEntry(guard: FileGuard, from: string, to: string): void {
  const source = guard.walk(from, { lastLink: 'keep', hold: 'stat' })
  try {
    if (source.stat === undefined) throw fileNotFound(from)
    const target = walkToTarget(guard, to)
    try {
      if (source.name === undefined) throw rootRefused(from)
      if (target.name === undefined) throw rootRefused(to)
      guard.policy.checkPlace(source, 'change')
      guard.policy.checkPlace(target, source.stat.isDirectory() ? 'change' : 'write')
      if (source.stat.isDirectory()) checkBelow(guard, source, target.relativePath)
      source.directory.recheck()
      target.directory.recheck()
      renameSync(source.directory.at(source.name), target.directory.at(target.name))
      source.directory.recheck()
      target.directory.recheck()
    } finally {
      target.close()
    }
  } finally {
    source.close()
  }
}

/** A failure here is about the new name. */
function walkToTarget(guard: FileGuard, to: string): Place {
  try {
    return guard.walk(to, { lastLink: 'keep', hold: 'stat' })
  } catch (error) {
    throw toFileError(error, to)
  }
}

/** Removes what a path names, a link and not its target; false when nothing was there. */
export function* removeEntry(
  guard: FileGuard,
  path: string,
  recursive: boolean,
): Generator<void, boolean, void> {
  const place = guard.walk(path, { lastLink: 'keep', hold: 'stat' })
  try {
    const { directory, name, stat } = place
    if (stat === undefined) return false
    if (name === undefined) throw rootRefused(path)
    guard.policy.checkPlace(place, 'change')
    directory.recheck()
    if (!stat.isDirectory()) {
      unlinkSync(directory.at(name))
      return true
    }
    if (recursive) {
      checkBelow(guard, place, undefined)
      const top = guard.tree.openDirectory(directory, name)
      try {
        yield* emptyDirectory(guard.tree, top)
      } finally {
        top.close()
      }
    }
    removeEmptyDirectory(place, name, path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  } finally {
    place.close()
  }
}

function removeEmptyDirectory(
  { directory, relativePath }: Place,
  name: string,
  path: string,
): void {
  try {
    rmdirSync(directory.at(name))
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY') throw error
    throw new SandboxError(
      'TOOL_FILE_FAILED',
      `${quotePath(path)} is a directory that is not empty. Pass recursive: true to remove it with all it holds.`,
      { details: { path: relativePath, errno: 'ENOTEMPTY' }, cause: error },
    )
  }
}

/** Sets the permission bits of a file or directory. */
export function changeMode(guard: FileGuard, path: string, mode: number): void {
  const place = guard.walk(path, { lastLink: 'follow', hold: 'entry' })
  try {
    if (place.entry === undefined) throw fileNotFound(path)
    guard.policy.checkPlace(place, 'change')
    if (place.entry.stat.isFile()) guard.policy.checkLinks(place.relativePath, place.entry.stat)
    place.directory.recheck()
    chmodSync(place.entry.self, mode & 0o777)
  } finally {
    place.close()
  }
}

/** Refuses when a rule covers something below a directory that is to go away, or would cover it at its new place. */
function checkBelow(guard: FileGuard, place: Place, newPath: string | undefined): void {
  const { policy, tree } = guard
  const isConcerned =
    policy.concernsBelow(place.relativePath) ||
    (newPath !== undefined && policy.concernsBelow(newPath))
  if (!isConcerned || place.name === undefined) return
  const directory = tree.openDirectory(place.directory, place.name)
  try {
    let seen = 0
    for (const { path } of walkEntries(tree, directory, place.relativePath, () => true)) {
      seen += 1
      if (seen > fileLimits.maxPolicyScan) throw tooMuchToScan(place.relativePath)
      policy.check(path, 'change')
      if (newPath !== undefined)
        policy.check(newPath + path.slice(place.relativePath.length), 'change')
    }
  } finally {
    directory.close()
  }
}

function rootRefused(path: string): SandboxError {
  return pathInvalid(path, 'is the root directory, which cannot be renamed or removed.')
}

function tooMuchToScan(path: string): SandboxError {
  return new SandboxError(
    'TOOL_PATH_DENIED',
    `${quotePath(path)} holds more than ${fileLimits.maxPolicyScan} entries, too many to make sure that no deny or protect rule covers one. Move or remove its parts.`,
    { details: { path, limit: fileLimits.maxPolicyScan }, effect: 'none' },
  )
}
