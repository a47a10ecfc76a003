import { realpathSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { canWalkDescriptors, openBeneathTree } from './beneath-tree.ts'
import { openCheckedTree } from './checked-tree.ts'
import { systemCode, toFileError } from '../file-error.ts'
import type { DirectoryTree, GuardKind } from './directory-handle.ts'
import { createPathPolicy, foldPath, foldsCase } from './path-policy.ts'
import type { PathPolicy } from './path-policy.ts'
import { directoryComponents } from './path-text.ts'
import type { PathSyntax } from './path-text.ts'
import { openRootAt } from '../open-root.ts'
import { completesRepository, trustedNear } from '../trusted-near.ts'
import { createTurnBudget } from '../io/turn-budget.ts'
import { walkPath } from './walk-path.ts'
import type { ResolvedPath, WalkOptions } from './walk-path.ts'

/** Keeps file operations inside one root. */
export interface FileGuard {
  readonly tree: DirectoryTree
  readonly policy: PathPolicy
  /** Canonical and absolute. */
  readonly rootDir: string
  walk(path: string, options: WalkOptions): ResolvedPath
  /*   * Runs an operation when the event loop has time for it. Converts system errors to `SandboxError`s that name the given
   * path.
   */
  run<T>(path: string, work: () => T | Promise<T>): Promise<T>
  /*   * Keeps the root open over several runs, until the returned function is called. If the guard is closed first, it calls
   * `stop`, which releases what the operation keeps between two runs; `checkOpen` then ends the operation.
   */
  retain(stop?: () => void): () => void
  /** Throws once the guard has been closed. */
  checkOpen(): void
  /** The key of the file's lock: equal for every path that leads to the file. */
  lockKey(resolved: ResolvedPath): string
  /** Whether `rootDir` still names the open root. */
  isCurrent(): boolean
  /*   * Starts nothing more, and closes the root when the last running operation has ended. Closing it earlier would free a
   * descriptor number that another root could receive.
   */
  close(): void
}

export interface FileGuardOptions {
  readonly rootDir: string
  readonly deny: readonly string[]
  readonly protectedNames: readonly string[]
  readonly maxLinks: number
  readonly guard: 'auto' | GuardKind
}

/** Opens the root. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function openFileGuard(options: FileGuardOptions): FileGuard {
  const rootDir = canonicalDirectory(options.rootDir)
  const tree = openTree(rootDir, options.guard)
  const windows = process.platform === 'win32'
  const syntax: PathSyntax = {
    windows,
    rootSpellings: [rootDir, resolve(options.rootDir)].map((path) =>
      directoryComponents(path, { windows }),
    ),
  }
  const names = {
    foldCase: foldsCase(process.platform, statfsSync(rootDir).type),
    normalizeUnicode: process.platform === 'darwin',
  }
  const root = openRootAt(rootDir, tree.root.fd)
  const policy = createPathPolicy({
    ...options,
    ...names,
    trustedNear: (path) => trustedNear(root, path),
    completesRepository: (path) => completesRepository(root, path),
  })
  const budget = createTurnBudget()
  const identity = tree.root.identity()
  const retained = new Set<{ readonly stop: (() => void) | undefined }>()
  let isClosed = false

  function checkOpen(): void {
    if (isClosed) throw closedError()
  }

  function retain(stop?: () => void): () => void {
    checkOpen()
    const entry = { stop }
    retained.add(entry)
    return () => {
      if (retained.delete(entry) && isClosed && retained.size === 0) tree.root.close()
    }
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    forgotten.unregister(retained)
    for (const entry of retained) {
      if (entry.stop === undefined) continue
      entry.stop()
      retained.delete(entry)
    }
    if (retained.size === 0) tree.root.close()
  }

  const guard: FileGuard = {
    tree,
    policy,
    rootDir,
    walk(path, walkOptions) {
      // Untyped callers pass whatever a model sent.
      if (typeof path !== 'string')
        throw new SandboxError('INVALID_INPUT', `path must be a string, got ${typeof path}.`)
      checkOpen()
      return walkPath(tree, syntax, path, walkOptions)
    },
    retain,
    checkOpen,
    async run(path, work) {
      const release = retain()
      try {
        const result = budget.run(() => {
          // The guard may have been closed while this call waited for its turn.
          checkOpen()
          return work()
        })
        // Small work finishes in the turn it was requested, so only promises are awaited.
        return result instanceof Promise ? await result : result
      } catch (error) {
        throw toFileError(error, path)
      } finally {
        release()
      }
    },
    lockKey: ({ directory, name }) => `${directory.identity()}:${foldPath(name ?? '', names)}`,
    isCurrent() {
      const stat = isClosed ? undefined : statSync(rootDir, { bigint: true, throwIfNoEntry: false })
      return stat !== undefined && `${stat.dev}:${stat.ino}` === identity
    },
    close,
  }
  // No function here refers to the guard, so that what closes it does not keep it.
  forgotten.register(guard, close, retained)
  return guard
}

/** Closes the root of a guard that was forgotten, once its last operation has ended. */
const forgotten = new FinalizationRegistry<() => void>((close) => close())

function closedError(): SandboxError {
  return new SandboxError(
    'TOOL_CLOSED',
    'These files were closed, so nothing was done. Open the root again: createSandbox or createSandboxFiles.',
    { effect: 'none' },
  )
}

/**
 * Returns the real path of a root.
 * @throws SandboxError `INVALID_INPUT` when it is not a directory
 */
export function canonicalDirectory(rootDir: string): string {
  const refuse = (problem: string, cause?: unknown): SandboxError =>
    new SandboxError(
      'INVALID_INPUT',
      `rootDir ${JSON.stringify(rootDir)} ${problem}. Pass the directory to confine to.`,
      { details: { option: 'rootDir', rootDir }, cause, effect: 'none' },
    )
  let canonical: string
  try {
    canonical = realpathSync.native(rootDir)
    if (statSync(canonical).isDirectory()) return canonical
  } catch (error) {
    throw refuse(systemCode(error) === 'ENOENT' ? 'does not exist' : 'cannot be opened', error)
  }
  throw refuse('is not a directory')
}

function openTree(rootDir: string, wanted: 'auto' | GuardKind): DirectoryTree {
  if (wanted !== 'checked' && canWalkDescriptors()) return openBeneathTree(rootDir)
  if (wanted !== 'beneath') return openCheckedTree(rootDir)
  throw new SandboxError(
    'TOOL_ISOLATION_UNAVAILABLE',
    'A guard that cannot be raced needs Linux with /proc mounted. Mount /proc, or accept guard: "checked".',
    { details: { missing: 'files' }, effect: 'none' },
  )
}
