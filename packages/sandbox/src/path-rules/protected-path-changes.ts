import type { OpenRoot } from '../files/open-root.ts'
import { gitTrustedPaths } from './git-trusted-paths.ts'
import { type PathSnapshot, type PathState, takePathSnapshot } from './path-snapshot.ts'
import {
  findProtectedPaths,
  type ProtectedPathOptions,
  type ProtectedPaths,
} from './protected-paths.ts'
import type { Repositories } from './repository-finder.ts'
import { createRootStatCache } from './root-stat-cache.ts'

/** Protected paths before a command, and what {@link protectedPathChanges} needs to compare. */
export interface ProtectedPathWatch {
  readonly root: OpenRoot
  readonly isAboutGit: boolean
  readonly paths: ProtectedPaths
  readonly snapshot: PathSnapshot
}

/** One protected path that differs after a command. */
export interface PathChange {
  readonly path: string
  readonly before: PathState | undefined
  readonly after: PathState | undefined
  /** The path, or the one above it, that git trusts; `undefined` for other protected paths. */
  readonly gitPath: string | undefined
}

/**
 * Looks up the paths that a command may not change, to compare afterwards. Paths that appear can only be found this way,
 * since a placeholder in the workspace would be a change that no command made.
 *
 * *Guarantees*: a path that is new, changed or gone afterwards is found, and so is one that can no longer be looked up; no
 * program can set back the time of change that is compared. *Does not protect against* changes being used while the command
 * still runs, does not tell two commands apart that run at the same time, and in a directory with more entries than are
 * looked up finds new, removed and renamed ones only.
 */
export function watchProtectedPaths(
  opened: OpenRoot,
  protect: readonly string[],
  options: ProtectedPathOptions = {},
): ProtectedPathWatch {
  const root = createRootStatCache(opened)
  const paths = findProtectedPaths(root, protect, options)
  return {
    root: opened,
    isAboutGit: protect.some((name) => name.startsWith('.git/')),
    paths,
    snapshot: takePathSnapshot(root, paths.watch),
  }
}

/** What changed since, sorted: directories before what is in them. Only what git trusts is searched for again. */
export function protectedPathChanges(
  { root: opened, isAboutGit, paths, snapshot: before }: ProtectedPathWatch,
  repositories?: Repositories,
): readonly PathChange[] {
  if (paths.watch.length === 0) return []
  const root = createRootStatCache(opened)
  const rootState = root.at('.')
  if (typeof rootState === 'string') {
    const after = { kind: 'unknown', stamp: rootState, mode: 0, size: 0, isWhole: true } as const
    return [{ path: '.', before: undefined, after, gitPath: undefined }]
  }
  const known = new Set(paths.watch)
  const git = isAboutGit ? gitTrustedPaths(root, repositories) : { protect: [], watch: [] }
  const added = new Set([...git.protect, ...git.watch].filter((path) => !known.has(path)))
  const after = takePathSnapshot(root, [...paths.watch, ...added])
  const gitPaths = new Set([...paths.git, ...git.protect, ...git.watch])
  const changes: PathChange[] = []
  const add = (
    path: string,
    earlier: PathState | undefined,
    later: PathState | undefined,
  ): void => {
    changes.push({ path, before: earlier, after: later, gitPath: nearest(path, gitPaths) })
  }
  for (const [path, state] of after) {
    const earlier = before.get(path)
    if (state.kind === 'unknown' || earlier?.stamp !== state.stamp) {
      add(path, earlier, state)
    }
  }
  for (const [path, state] of before) {
    if (!after.has(path)) add(path, state, undefined)
  }
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The path itself or the nearest one above it that is in the set. */
function nearest(path: string, all: ReadonlySet<string>): string | undefined {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (all.has(at)) return at
    if (!at.includes('/')) return undefined
  }
}
