import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { configuredGitPaths, type RepositoryPlace } from '../files/configured-git-paths.ts'
import { bareRepositoryNames } from '../files/trusted-near.ts'
import { lookupFailure } from './lookup-error.ts'
import { repositoriesOfGitFile } from '../files/git-file-targets.ts'
import type { Repositories } from './repository-finder.ts'
import { isPossibleName, type RootStatCache } from './root-stat-cache.ts'

/** What a git outside the sandbox would trust under a root, besides names that are the same in every repository. */
export interface GitTrustedPaths {
  /** To be mounted read-only, and watched. */
  readonly protect: readonly string[]
  /** Only watched: honest commands change them too, or they do not exist yet. */
  readonly watch: readonly string[]
  /**
   * Hooks and included files that configurations name. They are like other protected paths: what the repository tracks is
   * judged by its versions.
   */
  readonly configured: readonly string[]
}

/** In a repository's directory: what makes git run programs, or read another repository's configuration. */
const trusted = ['commondir', 'hooks', 'info/attributes']

/** As `trusted`, but honest commands write them, so their contents decide. */
const judged = ['config', 'config.worktree', 'rebase-merge/git-rebase-todo']

/** In the directory of a linked worktree; `git worktree add` writes the first two. */
const judgedByWorktree = ['commondir', 'gitdir', 'config.worktree', judged[2]!]

/** More submodules than this are watched as one directory. */
const maxModules = 50

/** Directories read to find submodules. */
const maxLookups = 2_000

/** Only the root's own repository, where no search was made. */
const rootRepository: Repositories = { withGit: [], bare: [] }

/**
 * Finds the repositories whose configuration a git started in the root would read: `.git`, or the target of a `.git` file
 * inside the root, or the root itself when it looks like a bare repository; the nested ones; their submodules and linked
 * worktrees.
 */
export function gitTrustedPaths(
  root: RootStatCache,
  nested: Repositories = rootRepository,
): GitTrustedPaths {
  const protect: string[] = []
  const watch: string[] = []
  const places: RepositoryPlace[] = []
  for (const worktree of ['', ...nested.withGit]) {
    const git = posix.join(worktree, '.git')
    places.push({ git, worktree })
    const stats = root.at(git)
    // A file `.git` makes any directory the repository, so it is watched also before it exists.
    if (typeof stats !== 'object' || !stats.isDirectory()) watch.push(git)
    if (typeof stats === 'object' && stats.isFile()) {
      if (worktree === '') protect.push(git)
      const targets = repositoriesOfGitFile(root, worktree).filter(isPossibleName)
      places.push(...targets.map((target) => ({ git: target, worktree })))
    }
  }
  places.push(...nested.bare.map((bare) => ({ git: bare, worktree: bare })))
  if (isBareRepository(root)) places.push({ git: '', worktree: '' })
  const configured = places.flatMap((place) => configuredGitPaths(root, place))
  for (const repository of new Set(places.map(({ git }) => git))) {
    const below = (name: string): string => posix.join(repository, name)
    protect.push(...trusted.map(below))
    watch.push(...judged.map(below))
    if (repository === '.git' && root.at('.git') === undefined) continue
    const modules = modulePaths(root, below('modules'))
    protect.push(...modules.protect)
    watch.push(...modules.watch)
    for (const name of entriesOf(root, below('worktrees')) ?? []) {
      watch.push(...judgedByWorktree.map((file) => posix.join(below('worktrees'), name, file)))
    }
  }
  return { protect, watch, configured: configured.filter(isPossibleName) }
}

/** Whether git takes the root itself for a repository. */
function isBareRepository(root: RootStatCache): boolean {
  return bareRepositoryNames.every((name) => root.at(name) !== undefined)
}

function modulePaths(
  root: RootStatCache,
  modules: string,
): Pick<GitTrustedPaths, 'protect' | 'watch'> {
  const found: string[] = []
  const pending = [modules]
  const all = { protect: [], watch: [modules] }
  for (let lookups = 0; ; lookups += 1) {
    const directory = pending.pop()
    if (directory === undefined) break
    const entries = entriesOf(root, directory)
    if (entries === undefined || lookups > maxLookups) return all
    if (directory !== modules && (entries.includes('HEAD') || entries.includes('config'))) {
      found.push(directory)
      if (entries.includes('modules')) pending.push(`${directory}/modules`)
    } else pending.push(...entries.map((entry) => `${directory}/${entry}`))
  }
  if (found.length > maxModules) return all
  const inEach = (names: readonly string[]): string[] =>
    found.flatMap((module) => names.map((name) => `${module}/${name}`))
  return { protect: inEach(trusted), watch: inEach(judged) }
}

/** The names in a directory; none when it does not exist or is another kind, `undefined` when it cannot be listed. */
function entriesOf(root: RootStatCache, directory: string): readonly string[] | undefined {
  if (root.at(directory) === undefined) return []
  try {
    return readdirSync(`${root.handle}/${directory}`)
  } catch (error) {
    return lookupFailure(error) === 'absent' ? [] : undefined
  }
}
