import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isExecutable } from '../is-executable.ts'
import { isWithin } from '../../path-rules/path-order.ts'

/** Where {@link unseenTarget} looks for a command. */
export interface CommandSearch {
  readonly command: string
  /** Absolute: where a name with a slash begins. */
  readonly cwd: string
  /** The value of the command's PATH. */
  readonly path: string
  /** Everything that is mounted. */
  readonly places: readonly string[]
}

/**
 * Returns the first file on the way to the program that no mount shows, such as the target of a link `~/bin/tool`; `null`
 * when the command can be seen as it is, or does not exist at all.
 */
export function unseenTarget({ command, cwd, path, places }: CommandSearch): string | null {
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : path.split(':').map((directory) => resolve(cwd, directory, command))
  let unseen: string | null = null
  for (const file of candidates) {
    if (!isExecutable(file)) continue
    const missing = firstUnseen(file, places)
    if (missing === null) return null
    unseen ??= missing
  }
  return unseen
}

/**
 * Returns the file that a path stands for; `null` when a link on the way lies in the root: commands write those, and must
 * not choose what is mounted for the next one.
 */
export function resolvedOutside(path: string, rootDir: string): string | null {
  let pending = components(path)
  let at = '/'
  for (let links = 0; ;) {
    const [next, ...rest] = pending
    if (next === undefined) return at
    pending = rest
    const place = join(at, next)
    if (isWithin(place, rootDir)) return null
    const target = linkTarget(place)
    if (target === null) {
      at = place
      continue
    }
    if ((links += 1) > maxLinks) return null
    if (target.startsWith('/')) at = '/'
    pending = [...components(target), ...pending]
  }
}

// As many as the kernel follows.
const maxLinks = 40

function firstUnseen(file: string, places: readonly string[]): string | null {
  let at = file
  for (let links = 0; links <= maxLinks; links += 1) {
    if (!isShown(at, places)) return at
    const target = linkTarget(at)
    if (target === null) return null
    at = resolve(resolved(dirname(at)), target)
  }
  return null
}

/** By the name as it is first: real names cost a look at each directory, and every command comes by here. */
function isShown(file: string, places: readonly string[]): boolean {
  if (places.some((place) => isWithin(file, place))) return true
  const real = join(resolved(dirname(file)), basename(file))
  return places.some((place) => isWithin(real, place) || isWithin(real, resolved(place)))
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
