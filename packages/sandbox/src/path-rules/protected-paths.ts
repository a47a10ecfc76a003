import { readlinkSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { gitTrustedPaths } from './git-trusted-paths.ts'
import type { Repositories } from './repository-finder.ts'
import { isPossibleName, type RootStatCache } from './root-stat-cache.ts'

/** What a protect option means for one command, as the root is now. */
export interface ProtectedPaths {
  /** To be mounted read-only: names that exist, or cannot be looked up, and that no honest command writes. */
  readonly mount: readonly string[]
  /** To be compared before and after: all names, whether they exist or not. */
  readonly watch: readonly string[]
  /** What protected names that are links point to inside the root; part of the others. */
  readonly targets: ReadonlySet<string>
  /** What git trusts; part of `watch`. */
  readonly git: readonly string[]
}

/** What {@link findProtectedPaths} knows of the root. */
export interface ProtectedPathOptions {
  readonly repositories?: Repositories
  /** Names that stay writable, since their contents are judged after the command. */
  readonly isWritable?: (name: string) => boolean
}

/**
 * Finds what to mount and what to compare for a `protect` list. A list with names in `.git` is about what git trusts, so
 * it includes {@link gitTrustedPaths}; of `.git/modules` and `.git/worktrees`, in which honest commands write, only the
 * trusted names in them count.
 */
export function findProtectedPaths(
  root: RootStatCache,
  protect: readonly string[],
  { repositories, isWritable }: ProtectedPathOptions = {},
): ProtectedPaths {
  const git = protect.some((name) => name.startsWith('.git/'))
    ? gitTrustedPaths(root, repositories)
    : undefined
  const names = new Set([
    ...(git === undefined ? protect : protect.filter((name) => !replaced.has(name))),
    ...(git?.protect ?? []),
    ...(git?.configured ?? []),
  ])
  const mount: string[] = []
  const targets = new Set<string>()
  for (const name of root.existing(names)) {
    const isMounted = isWritable?.(name) !== true
    if (isMounted) mount.push(name)
    const target = targetOf(root, name)
    if (target !== undefined && target !== name) {
      targets.add(target)
      if (isMounted) mount.push(target)
    }
  }
  return {
    mount,
    watch: [...new Set([...names, ...targets, ...(git?.watch ?? [])])],
    targets,
    git: git === undefined ? [] : [...git.protect, ...git.watch],
  }
}

const replaced: ReadonlySet<string> = new Set([
  '.git/modules',
  '.git/worktrees',
  '.git/config',
  '.git/config.worktree',
])

/** Where a name leads inside the root, every link resolved; also for a link whose target is not there yet. */
function targetOf(root: RootStatCache, name: string): string | undefined {
  if (!isThroughLink(root, name)) return name
  const path = `${root.handle}/${name}`
  // Where the root is now: the kernel resolves links to there.
  let { rootDir } = root
  let target: string
  try {
    target = realpathSync.native(path)
    rootDir = realpathSync.native(`${root.handle}/`)
  } catch {
    try {
      target = posix.resolve(root.rootDir, posix.dirname(name), readlinkSync(path))
    } catch {
      return undefined
    }
  }
  const relative = posix.relative(rootDir, target)
  const isInside = relative !== '' && relative !== '..' && !relative.startsWith('../')
  return isInside && isPossibleName(relative) ? relative : undefined
}

/** Whether the name or one above it is a link, or cannot be known not to be. */
function isThroughLink(root: RootStatCache, name: string): boolean {
  const components = name.split('/')
  return components.some((component, index) => {
    if (component === '' || component === '.' || component === '..') return true
    const found = root.at(components.slice(0, index + 1).join('/'))
    return typeof found !== 'object' || found.isSymbolicLink()
  })
}
