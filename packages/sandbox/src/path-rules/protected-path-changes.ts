import { readdirSync } from 'node:fs'
import { systemCode } from '../files/file-error.ts'
import { lookupFailure } from './lookup-error.ts'
import type { Violation } from './violation.ts'
import { isBareRepository } from './git-trusted-paths.ts'
import { type ProtectedPaths, findProtectedPaths } from './protected-paths.ts'
import { createRootStatCache, type RootStatCache } from './root-stat-cache.ts'

/** What stood at the watched names: path from the root → what would differ if it were changed. */
type PathSnapshot = ReadonlyMap<string, string>

/** Watched names before a command, and what {@link protectedPathChanges} needs to look again. */
export interface ProtectedPathWatch {
  readonly rootDir: string
  readonly protect: readonly string[]
  readonly names: ProtectedPaths
  readonly isBare: boolean
  readonly snapshot: PathSnapshot
}

/** Entries of one watched name that are looked at; of a larger one, the directories' own times stand for the rest. */
const maxEntries = 2_000

/**
 * Looks at names that a command may not change, to compare afterwards. Names that exist are also read-only for the
 * command where the backend can do that; those that appear can only be found this way, since a placeholder in the
 * workspace would be a change that no command made.
 *
 * *Guarantees*: a name that is new, changed or gone afterwards differs, and so does one that can no longer be looked
 * at; no program can set back the time of change that is compared. *Does not protect against* changes being used while
 * the command still runs, does not tell two commands apart that run at the same time, and in a directory with more
 * entries than are looked at finds new, removed and renamed ones only.
 */
export function watchProtectedPaths(
  rootDir: string,
  protect: readonly string[],
): ProtectedPathWatch {
  const root = createRootStatCache(rootDir)
  const names = findProtectedPaths(root, protect)
  return {
    rootDir,
    protect,
    names,
    isBare: isBareRepository(root),
    snapshot: snapshotNames(root, names.watch),
  }
}

/** What changed since. */
export function protectedPathChanges(watch: ProtectedPathWatch): readonly Violation[] {
  const { rootDir, protect, names, snapshot: before } = watch
  const root = createRootStatCache(rootDir)
  if (protect.length > 0 && typeof root.at('.') === 'string') return [unseenRoot(root.at('.'))]
  const now = findProtectedPaths(root, protect)
  const known = new Set(names.watch)
  // Where a link points since this command is no news of the target: the link itself has changed.
  const added = now.watch.filter((name) => !known.has(name) && !now.targets.has(name))
  const after = snapshotNames(root, [...names.watch, ...added])
  const violations: Violation[] = []
  const report = (path: string, what: string): void => {
    violations.push({
      rule: 'protected-name',
      subject: path,
      message: `The command ${what} "${path}", a protected name that something outside the sandbox trusts.`,
    })
  }
  for (const [path, state] of after) {
    const earlier = before.get(path)
    if (state.startsWith(unseen)) {
      violations.push({
        rule: 'protected-name',
        subject: path,
        message: `"${path}" cannot be examined after the command (${state.slice(unseen.length)}), so what it did to this protected name is unknown. Restore its permissions.`,
      })
    } else if (earlier === undefined) report(path, 'created')
    else if (earlier !== state) report(path, 'changed')
  }
  for (const path of before.keys()) if (!after.has(path)) report(path, 'removed')
  const isAboutGit = protect.some((name) => name.startsWith('.git/'))
  if (isAboutGit && !watch.isBare && isBareRepository(root)) {
    violations.push({
      rule: 'protected-name',
      subject: 'HEAD',
      message:
        'The command created "HEAD", "objects" and "refs", which make the root a bare git repository whose "config" any git started there trusts.',
    })
  }
  return violations
}

/** One for all: what is true of each name in it helps nobody to find the cause. */
function unseenRoot(errno: unknown): Violation {
  return {
    rule: 'protected-name',
    subject: '.',
    message: `The root cannot be examined after the command (${String(errno)}), so what it did to protected names is unknown. Restore its permissions (chmod u+rwx).`,
  }
}

const unseen = 'unseen: '

function snapshotNames(root: RootStatCache, names: readonly string[]): PathSnapshot {
  const snapshot = new Map<string, string>()
  for (const name of names) {
    look(root, name, { snapshot, left: maxEntries, isShallow: name === '.git' })
  }
  return snapshot
}

interface Looking {
  readonly snapshot: Map<string, string>
  /** Entries still to look at under this name; its own top entry is always looked at. */
  left: number
  /** Only what is no directory is of interest: in `.git` itself everything may change. */
  readonly isShallow: boolean
}

function look(root: RootStatCache, path: string, looking: Looking): void {
  const { snapshot } = looking
  const stats = root.at(path)
  if (stats === undefined) return
  if (typeof stats === 'string') {
    snapshot.set(path, `${unseen}${stats}`)
    return
  }
  if (!stats.isDirectory()) {
    snapshot.set(path, `${stats.ino} ${stats.size} ${stats.ctimeMs} ${stats.mode}`)
    return
  }
  if (looking.isShallow) return
  const entries = entriesOf(`${root.rootDir}/${path}`)
  if (typeof entries === 'string') {
    snapshot.set(path, `${unseen}${entries}`)
    return
  }
  // A directory's own times change with its entries, which are looked at one by one, unless they are too many.
  const isWhole = entries.length <= looking.left
  snapshot.set(path, `${stats.ino} ${stats.mode}${isWhole ? '' : ` ${stats.ctimeMs}`}`)
  for (const entry of entries.toSorted().slice(0, looking.left)) {
    if (looking.left <= 0) return
    looking.left -= 1
    look(root, `${path}/${entry}`, looking)
  }
}

function entriesOf(directory: string): readonly string[] | string {
  try {
    return readdirSync(directory)
  } catch (error) {
    // Removed since: as if it had been empty.
    return lookupFailure(error) === 'absent' ? [] : (systemCode(error) ?? 'unknown error')
  }
}
