import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { lookupFailure } from './lookup-error.ts'
import { readFileHead } from './read-file-head.ts'
import { isPossibleName, type RootStatCache } from './root-stat-cache.ts'

/** What a git outside the sandbox would trust under a root, besides names that are the same in every repository. */
export interface GitTrustedPaths {
  /** To be mounted read-only, and watched. */
  readonly protect: readonly string[]
  /** Only watched: honest commands change them too, or they do not exist yet. */
  readonly watch: readonly string[]
}

/** Below a repository's directory: what makes git run programs, or take another repository's configuration. */
const trusted = ['config', 'config.worktree', 'commondir', 'hooks', 'info/attributes']

/** Below the directory of a linked worktree; `git worktree add` writes the first two. */
const trustedByWorktree = ['commondir', 'gitdir', 'config.worktree']

/** More submodules than this are protected as one directory: each is three mounts. */
const maxModules = 50

/** Directories looked at to find submodules. */
const maxLooks = 2_000

/**
 * Finds the repositories whose configuration a git started in the root would read: `.git`, or where a `.git` file points
 * inside the root, or the root itself when it looks like a bare repository; their submodules and linked worktrees.
 */
export function gitTrustedPaths(root: RootStatCache): GitTrustedPaths {
  const protect: string[] = []
  const watch: string[] = []
  const repositories = ['.git']
  const stats = root.at('.git')
  // A file `.git` makes any directory the repository, so it is watched also before it exists.
  if (typeof stats !== 'object' || !stats.isDirectory()) watch.push('.git')
  if (typeof stats === 'object' && stats.isFile()) {
    protect.push('.git')
    repositories.push(...new Set(gitFileTargets(root.rootDir)))
  }
  if (isBareRepository(root)) repositories.push('')
  for (const repository of repositories) {
    const below = (name: string): string => posix.join(repository, name)
    protect.push(...trusted.map(below))
    if (repository === '.git' && stats === undefined) continue
    protect.push(...moduleNames(root, below('modules')))
    for (const name of entriesOf(root, below('worktrees')) ?? []) {
      watch.push(...trustedByWorktree.map((file) => posix.join(below('worktrees'), name, file)))
    }
  }
  return { protect, watch }
}

/** Whether git takes the root itself for a repository. */
export function isBareRepository(root: RootStatCache): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => root.at(name) !== undefined)
}

function moduleNames(root: RootStatCache, modules: string): readonly string[] {
  const found: string[] = []
  const pending = [modules]
  for (let looks = 0; ; looks += 1) {
    const directory = pending.pop()
    if (directory === undefined) break
    const entries = entriesOf(root, directory)
    if (entries === undefined || looks > maxLooks) return [modules]
    if (directory !== modules && (entries.includes('HEAD') || entries.includes('config'))) {
      found.push(directory)
      if (entries.includes('modules')) pending.push(`${directory}/modules`)
    } else pending.push(...entries.map((entry) => `${directory}/${entry}`))
  }
  if (found.length > maxModules) return [modules]
  return found.flatMap((module) => trusted.map((name) => `${module}/${name}`))
}

/** More than any path that a system call takes, and what git writes before it. */
const maxGitFileBytes = 4_200

/** Where a `.git` file points, if inside the root: as git reads it, and as programs do that are less exact. */
function gitFileTargets(rootDir: string): readonly string[] {
  const text = gitFileText(rootDir)
  if (!text.startsWith('gitdir:')) return []
  const written = text.slice('gitdir:'.length)
  const [firstLine = ''] = written.split('\n', 1)
  return [withoutLineEnds(written.replace(/^ /, '')), firstLine.trim()].flatMap((name) => {
    const target = posix.relative(rootDir, posix.resolve(rootDir, name))
    const isInside = target !== '' && target !== '..' && !target.startsWith('../')
    return isInside && isPossibleName(target) ? [target] : []
  })
}

function gitFileText(rootDir: string): string {
  try {
    const text = readFileHead(`${rootDir}/.git`, maxGitFileBytes)?.toString('utf8') ?? ''
    // To git, which is written in C, a NUL ends it.
    return text.split('\0', 1)[0] ?? ''
  } catch {
    // It cannot be read: then it is protected itself, and no git of this user reads it either.
    return ''
  }
}

function withoutLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1
  return text.slice(0, end)
}

/** The names in a directory; none when it is not there or no directory, `undefined` when it cannot be listed. */
function entriesOf(root: RootStatCache, directory: string): readonly string[] | undefined {
  if (root.at(directory) === undefined) return []
  try {
    return readdirSync(`${root.rootDir}/${directory}`)
  } catch (error) {
    return lookupFailure(error) === 'absent' ? [] : undefined
  }
}
