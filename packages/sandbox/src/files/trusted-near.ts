import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import { configuredGitPaths } from './configured-git-paths.ts'
import { gitFileTargets } from './git-file-targets.ts'
import type { OpenRoot } from './open-root.ts'

/**
 * Returns the paths that the repositories around a path name as hooks or included files: those of the directories above
 * it, the root left out. Looked up for each change, since a repository may have been cloned since the root was opened.
 */
export function trustedNear(root: OpenRoot, relativePath: string): readonly string[] {
  const found: string[] = []
  for (
    let directory = posix.dirname(relativePath);
    directory !== '.' && directory !== '/';
    directory = posix.dirname(directory)
  ) {
    const kind = kindOf(`${root.handle}/${directory}/.git`)
    if (kind === undefined) continue
    const own = `${directory}/.git`
    const repositories = kind === 'file' ? new Set(gitFileTargets(root, directory)) : [own]
    for (const git of repositories) {
      found.push(...configuredGitPaths(root, { git, worktree: directory }))
    }
  }
  return found
}

function kindOf(path: string): 'file' | 'directory' | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return 'directory'
    return stats?.isFile() === true ? 'file' : undefined
  } catch {
    return undefined
  }
}
