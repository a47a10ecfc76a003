import { posix } from 'node:path'
import type { OpenRoot } from '../files/open-root.ts'
import { gitFileTargets } from '../files/git-file-targets.ts'
import { isPossibleName } from './root-stat-cache.ts'
import type { PathChange } from './protected-path-changes.ts'
import type { SavedContent } from './path-snapshot.ts'

/** What only git itself can answer. */
export interface GitFacts {
  /** Whether a configuration differs from the one before only in keys that run nothing and lead nowhere. */
  changesOnlySafeKeys(before: Buffer | undefined, after: Buffer): Promise<boolean>
  /** Whether a content is, or is cleanly merged from, versions that the refs reached when the sandbox was opened. */
  isKnownVersion(path: string, content: SavedContent): Promise<boolean>
}

/** One change with the contents before and after, where they could be read. */
export interface ContentChange extends PathChange {
  readonly contentBefore: SavedContent | undefined
  readonly contentAfter: SavedContent | undefined
}

/** Whether honest work makes this change, so that it can stay. Directories count by what is in them. */
export async function isHonestChange(
  root: OpenRoot,
  change: ContentChange,
  facts: GitFacts,
): Promise<boolean> {
  const { path, before, after, gitPath, contentBefore, contentAfter } = change
  if (after?.kind === 'unknown') return false
  if (after?.kind === 'directory') return after.isWhole
  if (
    before !== undefined &&
    contentBefore !== undefined &&
    sameContent(contentBefore, contentAfter)
  ) {
    return true
  }
  if (gitPath !== undefined) return isHonestGitChange(root, { ...change, gitPath }, facts)
  // A removed directory is judged by the files that were in it.
  if (after === undefined && before?.kind === 'directory') return true
  const version = after === undefined ? contentBefore : contentAfter
  return version !== undefined && facts.isKnownVersion(path, version)
}

function sameContent(one: SavedContent, other: SavedContent | undefined): boolean {
  return (
    other !== undefined &&
    one.kind === other.kind &&
    one.mode === other.mode &&
    one.bytes.equals(other.bytes)
  )
}

async function isHonestGitChange(
  root: OpenRoot,
  {
    path,
    gitPath,
    before,
    after,
    contentBefore,
    contentAfter,
  }: ContentChange & { gitPath: string },
  facts: GitFacts,
): Promise<boolean> {
  const name = posix.basename(gitPath)
  if (after === undefined) return isHonestRemoval(name)
  if (contentAfter?.kind !== 'file') return false
  const text = contentAfter.bytes.toString('latin1')
  switch (name) {
    case 'config':
    case 'config.worktree':
      return facts.changesOnlySafeKeys(contentBefore?.bytes, contentAfter.bytes)
    case 'git-rebase-todo':
      return !/^\s*(?:exec|x)\b/mu.test(text)
    case 'hooks':
      // What `git init` copies; git runs no hook with this ending.
      return before === undefined && path.endsWith('.sample')
    case 'commondir':
      return isInWorktrees(gitPath) && text.trim() === '../..'
    case 'gitdir':
      return isInWorktrees(gitPath) && isWorktreeFile(root.rootDir, text.trim())
    case '.git':
      return before === undefined && leadsToOwnRepository(root, path)
    default:
      return false
  }
}

/** Removing what would have been trusted; not hooks, which protect the owner, nor the configuration of a repository. */
function isHonestRemoval(name: string): boolean {
  return ['git-rebase-todo', 'commondir', 'gitdir', '.git'].includes(name)
}

function isInWorktrees(gitPath: string): boolean {
  return /(?:^|\/)\.git\/worktrees\/[^/]+\/[^/]+$/u.test(gitPath)
}

function isWorktreeFile(rootDir: string, path: string): boolean {
  return path.startsWith(`${rootDir}/`) && path.endsWith('/.git') && posix.normalize(path) === path
}

/** A `.git` file of a linked worktree or a submodule of a repository in the root, which is watched itself. */
function leadsToOwnRepository(root: OpenRoot, path: string): boolean {
  if (path === '.git') return false
  const targets = gitFileTargets(root, posix.dirname(path)).filter(isPossibleName)
  return (
    targets.length > 0 &&
    targets.every((target) => /(?:^|\/)\.git\/(?:worktrees|modules)\/[^/]/u.test(target))
  )
}
