import type { OpenRoot } from '../files/open-root.ts'
import type { Repositories } from './repository-finder.ts'
import { RepositoryFinder } from './repository-finder.ts'
import { type ContentChange, type GitFacts, isHonestChange } from './judge-change.ts'
import {
  type PathChange,
  protectedPathChanges,
  type ProtectedPathWatch,
  watchProtectedPaths,
} from './protected-path-changes.ts'
import { readContent, type SavedContent, SavedContents } from './path-snapshot.ts'
import { putBack, setAside } from './set-aside.ts'
import { TrackedPaths } from './tracked-paths.ts'
import type { Violation } from './violation.ts'

/** What one sandbox does to keep its protected paths. */
export interface PathProtectionOptions {
  readonly protect: readonly string[]
  /** Where changes that are undone are kept; `undefined` leaves them in place. */
  readonly setAsideDirectory: string | undefined
  readonly facts: GitFacts
  /** Whether the name of the root still leads to the directory that was opened. */
  readonly isRootCurrent: () => boolean
}

/** The protected paths of one command. */
export interface ProtectedRun {
  /** To be mounted read-only, where the backend can. */
  readonly mount: readonly string[]
  /** Call it when the command has ended: undoes what it changed and should not have, and says so. */
  end(): Promise<readonly Violation[]>
}

/** For a command that cannot change anything. */
export const unprotectedRun: ProtectedRun = { mount: [], end: () => Promise.resolve([]) }

/**
 * Keeps the paths in a root that unconfined programs trust.
 *
 * *Guarantees*: after `end`, a change of a protected path is either one that honest work makes (a version that the refs
 * reached when the sandbox was opened, a clean merge of such versions, safe keys of a repository's configuration) or is
 * undone and reported: the command's version is moved out of the root and the old one put back. *Does not protect against*
 * a program outside that reads a change while the command still runs.
 */
export class PathProtection {
  readonly #options: PathProtectionOptions
  readonly #finder = new RepositoryFinder()
  readonly #contents = new SavedContents()
  readonly #tracked = new TrackedPaths()
  readonly #isAboutGit: boolean

  constructor(options: PathProtectionOptions) {
    this.#options = options
    this.#isAboutGit = options.protect.some((name) => name.startsWith('.git/'))
  }

  /** Keep the root open until `end` is done. */
  async begin(root: OpenRoot): Promise<ProtectedRun> {
    const { protect } = this.#options
    if (protect.length === 0) return unprotectedRun
    const repositories = await this.#repositories(root)
    const isWritable = this.#tracked.current(root)
    const watch = watchProtectedPaths(root, protect, {
      isWritable,
      ...(repositories === undefined ? {} : { repositories }),
    })
    const contents = this.#contents.save(root, watch.snapshot)
    return { mount: watch.paths.mount, end: () => this.#end(watch, contents) }
  }

  async #repositories(root: OpenRoot): Promise<Repositories | undefined> {
    return this.#isAboutGit ? this.#finder.find(root) : undefined
  }

  async #end(
    watch: ProtectedPathWatch,
    contents: ReadonlyMap<string, SavedContent>,
  ): Promise<readonly Violation[]> {
    const { facts, isRootCurrent } = this.#options
    const { root } = watch
    const isCurrent = isRootCurrent()
    // Without a descriptor, what its name leads to now is not ours to change.
    if (!isCurrent && root.isByName) return [exchangedRoot]
    const changes = protectedPathChanges(watch, await this.#repositories(root))
    const dishonest: ContentChange[] = []
    const honest: ContentChange[] = []
    for (const change of changes) {
      const withContents = this.#withContents(root, change, contents)
      const isHonest = await isHonestChange(root, withContents, facts)
      const list = isHonest ? honest : dishonest
      list.push(withContents)
    }
    const violations = this.#undo(root, dishonest, honest)
    return isCurrent ? violations : [exchangedRoot, ...violations]
  }

  #withContents(
    root: OpenRoot,
    change: PathChange,
    contents: ReadonlyMap<string, SavedContent>,
  ): ContentChange {
    const { path, after } = change
    return {
      ...change,
      contentBefore: contents.get(path),
      contentAfter: after === undefined ? undefined : readContent(root, path, after),
    }
  }

  #undo(
    root: OpenRoot,
    dishonest: readonly ContentChange[],
    honest: readonly ContentChange[],
  ): readonly Violation[] {
    const files = honest.filter(({ after }) => after !== undefined && after.kind !== 'directory')
    // A new directory goes as a whole, unless something honest is in it.
    const whole = honest.filter(
      ({ path, before, after }) =>
        before === undefined &&
        after?.kind === 'directory' &&
        dishonest.some((change) => change.path.startsWith(`${path}/`)) &&
        !files.some((change) => change.path.startsWith(`${path}/`)),
    )
    const all = [...whole, ...dishonest].toSorted((a, b) => (a.path < b.path ? -1 : 1))
    const violations: Violation[] = []
    let gone: string | undefined
    for (const change of all) {
      if (gone !== undefined && change.path.startsWith(`${gone}/`) && change.before === undefined) {
        continue
      }
      if (change.before === undefined && change.after?.kind === 'directory') gone = change.path
      violations.push(this.#undoOne(root, change))
    }
    return violations
  }

  #undoOne(root: OpenRoot, change: ContentChange): Violation {
    const { path, before, after, contentBefore } = change
    const { setAsideDirectory } = this.#options
    if (after?.kind === 'unknown') return unseen(path, after.stamp)
    const what = before === undefined ? 'created' : after === undefined ? 'removed' : 'changed'
    const report = `The command ${what} "${path}", a protected name that something outside the sandbox trusts.`
    const violation = { rule: 'protected-name', subject: path } as const
    if (setAsideDirectory === undefined) {
      return {
        ...violation,
        message: `${report} It was left in place: no directory outside the root is available.`,
      }
    }
    if (before !== undefined && contentBefore === undefined) {
      return {
        ...violation,
        message: `${report} It was left in place, since its old content was not kept. Check it.`,
      }
    }
    try {
      const moved = after === undefined ? undefined : setAside(root, path, setAsideDirectory)
      if (contentBefore !== undefined) putBack(root, path, contentBefore)
      const old = contentBefore === undefined ? '' : ' The old content was put back.'
      const kept =
        moved === undefined ? '' : ` The command's version was moved to ${JSON.stringify(moved)}.`
      const message = `${report}${old}${kept}`
      return { ...violation, message, ...(moved === undefined ? {} : { setAside: moved }) }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return { ...violation, message: `${report} It could not be undone (${why}). Check it.` }
    }
  }
}

const exchangedRoot: Violation = {
  rule: 'protected-name',
  subject: '.',
  message:
    'The root was moved or replaced while the command ran. What its path names now was neither examined nor changed: check the protected names there.',
}

function unseen(path: string, errno: string): Violation {
  const what = path === '.' ? 'The root' : `"${path}"`
  return {
    rule: 'protected-name',
    subject: path,
    message: `${what} cannot be examined after the command (${errno}), so what it did to protected names is unknown. Restore its permissions (chmod u+rwx).`,
  }
}
