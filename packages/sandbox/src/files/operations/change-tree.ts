import { chmodSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { walkEntries } from './directory-entries.ts'
import { fileNotFound, pathInvalid, quotePath, systemCode, toFileError } from '../file-error.ts'
import type { FileGuard } from '../guard/file-guard.ts'
import { fileLimits } from '../file-limits.ts'
import { emptyDirectory } from './remove-tree.ts'
import type { ResolvedPath } from '../guard/walk-path.ts'

/** Creates a directory and its missing parents. An existing directory is not an error. */
export function makeDirectory(guard: FileGuard, path: string): void {
  const resolved = guard.walk(path, {
    lastLink: 'follow',
    lastEntry: 'stat',
    createParents: (parent) => guard.policy.check(parent, 'change'),
  })
  try {
    const { name, stat, directory } = resolved
    if (stat?.isDirectory() === true) return
    if (stat !== undefined || name === undefined)
      throw pathInvalid(path, 'exists and is not a directory.')
    guard.policy.checkResolved(resolved, 'change')
    directory.recheck()
    try {
      mkdirSync(directory.at(name))
    } catch (error) {
      // Another process created it meanwhile: accepted when it is a directory.
      if (systemCode(error) !== 'EEXIST') throw error
      guard.tree.openDirectory(directory, name).close()
    }
    directory.recheck()
  } finally {
    resolved.close()
  }
}

/** Renames a file, link or directory. Like rename(2), replaces a file with the new name. */
export function renameEntry(guard: FileGuard, from: string, to: string): void {
  const source = guard.walk(from, { lastLink: 'keep', lastEntry: 'stat' })
  try {
    if (source.stat === undefined) throw fileNotFound(from)
    const target = walkToTarget(guard, to)
    try {
      if (source.name === undefined) throw rootRefused(from)
      if (target.name === undefined) throw rootRefused(to)
      guard.policy.checkResolved(source, 'change')
      guard.policy.checkResolved(target, source.stat.isDirectory() ? 'change' : 'write')
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

/** Errors name the new path, not the old one. */
function walkToTarget(guard: FileGuard, to: string): ResolvedPath {
  try {
    return guard.walk(to, { lastLink: 'keep', lastEntry: 'stat' })
  } catch (error) {
    throw toFileError(error, to)
  }
}

/** Removes the object at a path; a link itself, not its target. Returns false when nothing was there. */
export function* removeEntry(
  guard: FileGuard,
  path: string,
  recursive: boolean,
): Generator<void, boolean, void> {
  const resolved = guard.walk(path, { lastLink: 'keep', lastEntry: 'stat' })
  try {
    const { directory, name, stat } = resolved
    if (stat === undefined) return false
    if (name === undefined) throw rootRefused(path)
    guard.policy.checkResolved(resolved, 'change')
    directory.recheck()
    if (!stat.isDirectory()) {
      unlinkSync(directory.at(name))
      return true
    }
    if (recursive) {
      checkBelow(guard, resolved, undefined)
      const top = guard.tree.openDirectory(directory, name)
      try {
        yield* emptyDirectory(guard.tree, top)
      } finally {
        top.close()
      }
    }
    removeEmptyDirectory(resolved, name, path)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  } finally {
    resolved.close()
  }
}

function removeEmptyDirectory(
  { directory, relativePath }: ResolvedPath,
  name: string,
  path: string,
): void {
  try {
    rmdirSync(directory.at(name))
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY') throw error
    throw new SandboxError(
      'TOOL_FILE_FAILED',
      `${quotePath(path)} is a directory that is not empty. Pass recursive: true to remove it with its contents.`,
      { details: { path: relativePath, errno: 'ENOTEMPTY' }, cause: error },
    )
  }
}

/** Sets the permission bits of a file or directory. */
export function changeMode(guard: FileGuard, path: string, mode: number): void {
  const resolved = guard.walk(path, { lastLink: 'follow', lastEntry: 'open' })
  try {
    if (resolved.entry === undefined) throw fileNotFound(path)
    guard.policy.checkResolved(resolved, 'change')
    if (resolved.entry.stat.isFile())
      guard.policy.checkLinks(resolved.relativePath, resolved.entry.stat)
    resolved.directory.recheck()
    chmodSync(resolved.entry.self, mode & 0o777)
  } finally {
    resolved.close()
  }
}

/** Throws when a rule covers something below a directory to be moved or removed, at its old path or its new one. */
function checkBelow(guard: FileGuard, resolved: ResolvedPath, newPath: string | undefined): void {
  const { policy, tree } = guard
  const isConcerned =
    policy.concernsBelow(resolved.relativePath) ||
    (newPath !== undefined && policy.concernsBelow(newPath))
  if (!isConcerned || resolved.name === undefined) return
  const directory = tree.openDirectory(resolved.directory, resolved.name)
  try {
    let seen = 0
    for (const { path } of walkEntries(tree, directory, resolved.relativePath, () => true)) {
      seen += 1
      if (seen > fileLimits.maxPolicyScan) throw tooMuchToScan(resolved.relativePath)
      policy.check(path, 'change')
      if (newPath !== undefined)
        policy.check(newPath + path.slice(resolved.relativePath.length), 'change')
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
    `${quotePath(path)} contains more than ${fileLimits.maxPolicyScan} entries, too many to check against the deny and protect rules. Move or remove parts of it.`,
    { details: { path, limit: fileLimits.maxPolicyScan }, effect: 'none' },
  )
}
