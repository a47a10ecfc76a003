import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isExecutable } from '../is-executable.ts'
import { isWithin } from '../../path-rules/path-order.ts'

/** Where {@link firstHiddenFile} looks for a command. */
export interface CommandSearch {
  readonly command: string
  /** Absolute: where a name with a slash begins. */
  readonly cwd: string
  /** The value of the command's PATH. */
  readonly path: string
  /** Everything that is mounted. */
  readonly visible: readonly string[]
}

/**
 * Returns the first file on the way to the program that no mount shows, such as the target of a link `~/bin/tool`; `null`
 * when the command can be seen as it is, or does not exist at all.
 */
export function firstHiddenFile({ command, cwd, path, visible }: CommandSearch): string | null {
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : path.split(':').map((directory) => resolve(cwd, directory, command))
  let unseen: string | null = null
  for (const file of candidates) {
    if (!isExecutable(file)) continue
    const missing = hiddenTarget(file, visible)
    if (missing === null) return null
    unseen ??= missing
  }
  return unseen
}

/**
 * Returns the file that a path leads to; `null` when a link on the way is in the root: commands write those, and must
 * not choose what is mounted for the next one.
 */
export function resolvedOutside(path: string, rootDir: string): string | null {
  let pending = components(path)
  let at = '/'
  for (let links = 0; ;) {
    const [next, ...rest] = pending
    if (next === undefined) return at
    pending = rest
    const entry = join(at, next)
    if (isWithin(entry, rootDir)) return null
    const target = linkTarget(entry)
    if (target === null) {
      at = entry
      continue
    }
    if ((links += 1) > maxLinks) return null
    if (target.startsWith('/')) at = '/'
    pending = [...components(target), ...pending]
  }
}

// As many as the kernel follows.
const maxLinks = 40

function hiddenTarget(file: string, visible: readonly string[]): string | null {
  let at = file
  for (let links = 0; links <= maxLinks; links += 1) {
    if (!isVisible(at, visible)) return at
    const target = linkTarget(at)
    if (target === null) return null
    at = resolve(resolved(dirname(at)), target)
  }
  return null
}

/** Checks the name as written first: resolving it costs a system call a directory, for every command. */
function isVisible(file: string, visible: readonly string[]): boolean {
  if (visible.some((directory) => isWithin(file, directory))) return true
  const real = join(resolved(dirname(file)), basename(file))
  return visible.some(
    (directory) => isWithin(real, directory) || isWithin(real, resolved(directory)),
  )
}

function components(path: string): string[] {
  return path.split('/').filter((component) => component !== '' && component !== '.')
}

function linkTarget(path: string): string | null {
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink ? readlinkSync(path) : null
  } catch {
    return null
  }
}

function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
