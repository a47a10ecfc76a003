import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { lookFailure } from '../isolation/absence.ts'
import { gitNames } from './git-names.ts'

/** What a protect option means for one command, as the root is now. */
export interface GuardedNames {
  /** To be mounted read-only: names that exist, or cannot be looked at. Independent of what the snapshot holds. */
  readonly mount: readonly string[]
  /** To be compared before and after: all names, whether they exist or not. */
  readonly watch: readonly string[]
  /** What protected names that are links point to inside the root; part of the others. */
  readonly targets: ReadonlySet<string>
}

/**
 * Finds what to mount and what to compare for a `protect` list. A list with names in `.git` is about what git trusts, so
 * it stands for {@link gitNames} as well; `.git/modules` and `.git/worktrees`, in which honest commands write, stand for
 * the trusted names in them.
 */
export function guardedNames(rootDir: string, protect: readonly string[]): GuardedNames {
  const git = protect.some((name) => name.startsWith('.git/')) ? gitNames(rootDir) : undefined
  const names = new Set([
    ...(git === undefined ? protect : protect.filter((name) => !replaced.has(name))),
    ...(git?.protect ?? []),
  ])
  const missing = new Set<string>()
  const mount: string[] = []
  const targets = new Set<string>()
  for (const name of names) {
    // One look at `.git` answers for everything in it.
    const slash = name.indexOf('/')
    const top = slash < 0 ? name : name.slice(0, slash)
    if (missing.has(top)) continue
    if (slash >= 0 && isAbsent(rootDir, top)) {
      missing.add(top)
      continue
    }
    if (isAbsent(rootDir, name)) continue
    mount.push(name)
    const target = targetOf(rootDir, name)
    if (target !== undefined && target !== name) {
      targets.add(target)
      mount.push(target)
    }
  }
  return { mount, watch: [...new Set([...names, ...targets, ...(git?.watch ?? [])])], targets }
}

const replaced: ReadonlySet<string> = new Set(['.git/modules', '.git/worktrees'])

/** Where a name leads inside the root, every link resolved; also for a link whose target is not there yet. */
function targetOf(rootDir: string, name: string): string | undefined {
  const path = posix.join(rootDir, name)
  let target: string
  try {
    target = realpathSync.native(path)
  } catch {
    try {
      target = posix.resolve(posix.dirname(path), readlinkSync(path))
    } catch {
      return undefined
    }
  }
  const relative = posix.relative(rootDir, target)
  return relative === '' || relative === '..' || relative.startsWith('../') ? undefined : relative
}

function isAbsent(rootDir: string, name: string): boolean {
  try {
    return lstatSync(posix.join(rootDir, name), { throwIfNoEntry: false }) === undefined
  } catch (error) {
    return lookFailure(error) === 'absent'
  }
}
