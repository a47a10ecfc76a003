import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { systemCode } from '../files/file-error.ts'
import type { OpenRoot } from '../files/open-root.ts'
import { lookupFailure } from './lookup-error.ts'

/** The names of a root at one moment: each is looked up once, however often it is needed. */
export interface RootStatCache extends OpenRoot {
  /** `undefined` when nothing is there; the error's name when that cannot be known. */
  at(name: string): Stats | string | undefined
  /** Those of the names that exist, or of which that cannot be known. */
  existing(names: Iterable<string>): readonly string[]
}

/**
 * Whether a name that a command wrote (into a link, or a `.git` file) can be of anything that exists, and is short enough
 * to be looked up. Other names must not stop later commands: what they could protect does not exist, or is deeper than a
 * path can express.
 */
export function isPossibleName(name: string): boolean {
  return (
    Buffer.byteLength(name) <= maxNameBytes &&
    name.split('/').every((component) => Buffer.byteLength(component) <= maxComponentBytes)
  )
}

/** Leaves most of what a path may have to the root and to names below. */
const maxNameBytes = 1024
/** On every common file system. */
const maxComponentBytes = 255

/** A directory with more entries is not listed to save looks: that would cost more than they do. */
const maxListed = 400

/** Roots that were seen to have more entries. */
const crowded = new Set<string>()

/**
 * Looks up names in a root. Most of them do not exist: one listing of the root answers for those, at a tenth of the
 * cost.
 */
export function createRootStatCache(root: OpenRoot): RootStatCache {
  const { handle } = root
  const isListed = listing(root)
  const seen = new Map<string, Stats | string | undefined>()
  const at = (name: string): Stats | string | undefined => {
    if (seen.has(name)) return seen.get(name)
    const slash = name.lastIndexOf('/')
    const above = slash > 0 ? at(name.slice(0, slash)) : undefined
    // Below nothing and below a file is nothing; a link or an error may hide anything.
    const isAbsent = slash > 0 ? above === undefined || isFile(above) : !isListed(name)
    const found = isAbsent ? undefined : lstat(`${handle}/${name}`)
    seen.set(name, found)
    return found
  }
  return {
    ...root,
    at,
    existing: (names) => [...names].filter((name) => at(name) !== undefined),
  }
}

function isFile(found: Stats | string): boolean {
  return typeof found !== 'string' && found.isFile()
}

/** Whether a name may be in the root. False only when that is certain. */
function listing({ rootDir, handle }: OpenRoot): (name: string) => boolean {
  if (crowded.has(rootDir)) return () => true
  let entries: readonly string[]
  try {
    entries = readdirSync(`${handle}/`)
  } catch {
    return () => true
  }
  if (entries.length > maxListed) crowded.add(rootDir)
  // Where case does not count, a name is found by others than its own; beyond ASCII, by rules that differ.
  // oxlint-disable-next-line no-control-regex
  if (entries.some((entry) => /[^\u0000-\u007F]/u.test(entry))) return () => true
  const known = new Set(entries.map((entry) => entry.toLowerCase()))
  return (name) => known.has(name.toLowerCase()) || isNoEntry(name)
}

/** The root itself, the directory above it, or an absolute spelling: names that no listing holds. */
function isNoEntry(name: string): boolean {
  return name === '' || name === '.' || name === '..' || name.startsWith('/')
}

function lstat(path: string): Stats | string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return lookupFailure(error) === 'absent' ? undefined : (systemCode(error) ?? 'unknown error')
  }
}
