import { lstatSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { configuredGitPaths } from './configured-git-paths.ts'
import { repositoriesOfGitFile } from './git-file-targets.ts'
import type { OpenRoot } from './open-root.ts'

/**
 * Returns the paths that the repositories around a path name as hooks or included files: those of the directories above
 * it, the root left out. Looked up for each change, since a repository may have been cloned since the root was opened.
 *
 * *Does not protect against* a repository further down that names a path outside its own directory.
 */
export function trustedNear(root: OpenRoot, relativePath: string): readonly string[] {
  const found: string[] = []
  for (const { directory } of componentsOf(relativePath)) {
    const stats = statOf(root, `${directory}/.git`)
    const own = stats?.isDirectory() === true ? [`${directory}/.git`] : []
    const repositories = stats?.isFile() === true ? repositoriesOfGitFile(root, directory) : own
    for (const git of repositories) {
      found.push(...configuredGitPaths(root, { git, worktree: directory }))
    }
  }
  return found
}

/** What makes git take a directory for a bare repository. */
export const bareRepositoryNames: readonly string[] = ['HEAD', 'objects', 'refs']

/** What in one makes git run programs. */
const trusted: readonly string[] = ['config', 'config.worktree', 'hooks', 'commondir']

/**
 * Whether a change at a path would leave a directory above it as a bare repository with a configuration or hooks: git
 * started there would run what they say. The last of the names that make one is refused, whichever it is.
 */
export function completesRepository(root: OpenRoot, relativePath: string): boolean {
  return componentsOf(relativePath).some(({ directory, name }) => {
    // Some volumes fold case.
    const isNamed = (each: string): boolean => each.toLowerCase() === name.toLowerCase()
    const exists = (each: string): boolean =>
      isNamed(each) || statOf(root, `${directory}/${each}`) !== undefined
    return (
      [...bareRepositoryNames, ...trusted].some(isNamed) &&
      bareRepositoryNames.every(exists) &&
      trusted.some(exists)
    )
  })
}

/** Each component of a path below the root's own, with the directory that it is in. */
function componentsOf(path: string): { readonly directory: string; readonly name: string }[] {
  const found: { directory: string; name: string }[] = []
  for (let at = path; ; at = posix.dirname(at)) {
    const directory = posix.dirname(at)
    if (directory === '.' || directory === '/') return found
    found.push({ directory, name: posix.basename(at) })
  }
}

function statOf({ handle }: OpenRoot, path: string): Stats | undefined {
  try {
    return lstatSync(`${handle}/${path}`, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
