import type { BigIntStats } from 'node:fs'
import picomatch from 'picomatch'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { quotePath } from '../file-error.ts'
import type { ResolvedPath } from './walk-path.ts'

/**
 * An action to check: `'change'` covers writing, creating, moving and removing; `'write'` is a change that leaves a file
 * at the path.
 */
export type FileAction = 'read' | 'change' | 'write'

export interface PathPolicyOptions {
  readonly deny: readonly string[]
  readonly protectedNames: readonly string[]
  readonly maxLinks: number
  /** What the repositories around a path trust besides: hooks and included files that their configurations name. */
  readonly trustedNear?: ((relativePath: string) => readonly string[]) | undefined
  /** Whether a change would leave a bare repository whose configuration or hooks git would run. */
  readonly completesRepository?: ((relativePath: string) => boolean) | undefined
  /** Whether the volume treats `A` and `a` as one name. */
  readonly foldCase: boolean
  /** Whether the volume treats differently composed Unicode as one name. */
  readonly normalizeUnicode: boolean
}

/** The `deny` and `protect` rules. Paths must have their links resolved. */
export interface PathPolicy {
  /** Throws `TOOL_PATH_DENIED`, naming the rule and the option that changes it. */
  check(relativePath: string, action: FileAction): void
  /** The same for a resolved path and for its spellings before links were resolved. */
  checkResolved(
    resolved: Pick<ResolvedPath, 'relativePath' | 'spellings'>,
    action: FileAction,
  ): void
  /** Throws when the file has more hard links than `maxLinks`. */
  checkLinks(relativePath: string, stat: BigIntStats): void
  /** The rule that hides a path from every action. */
  denied(relativePath: string): string | undefined
  /** Whether a rule may cover something below this directory, which must then be searched before it is moved or removed. */
  concernsBelow(relativePath: string): boolean
}

/** Compiles the rules once, for use in every call. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createPathPolicy(options: PathPolicyOptions): PathPolicy {
  const fold = (path: string) => foldPath(path, options)
  const deny = options.deny.map((glob) => ({
    glob,
    matches: picomatch(fold(trimSlashes(glob)), { dot: true, strictSlashes: false }),
  }))
  const names = options.protectedNames.map((name) => ({ name, folded: fold(trimSlashes(name)) }))

  const byFolded = new Map(names.map(({ name, folded }) => [folded, name]))
  const isAboutGit = names.some(({ folded }) => folded.startsWith('.git/'))
  // A file `.git` names any directory as the repository; `HEAD` makes the root a bare one, whose `config` then counts.
  const repositoryFiles = new Set(['.git', 'HEAD'].map(fold))
  // Honest commands write it, so it is not on the list for them.
  if (isAboutGit) byFolded.set(fold(rebaseTodo), rebaseTodo)

  function denied(relativePath: string): string | undefined {
    if (deny.length === 0 || relativePath === '') return undefined
    const path = fold(relativePath)
    for (const { glob, matches } of deny) {
      // A denied directory denies what is in it.
      for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
        if (matches(path.slice(0, end))) return glob
      }
      if (matches(path)) return glob
    }
    return undefined
  }

  /** The protected name that is this path or a directory above it. */
  function protectedBy(path: string): string | undefined {
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      const name = byFolded.get(path.slice(0, end))
      if (name !== undefined) return name
    }
    return byFolded.get(path)
  }

  function check(relativePath: string, action: FileAction): void {
    const glob = denied(relativePath)
    if (glob !== undefined) {
      throw refusal(relativePath, `the deny rule ${JSON.stringify(glob)} covers it`, 'deny', glob)
    }
    if (action === 'read' || names.length === 0) return
    const path = fold(relativePath)
    if (action === 'write' && isAboutGit && repositoryFiles.has(path)) {
      throw refusal(relativePath, 'it turns a directory into a git repository', 'protect', path)
    }
    const name = protectedBy(path)
    if (name !== undefined) {
      throw refusal(relativePath, `${JSON.stringify(name)} is protected`, 'protect', name)
    }
    if (!isAboutGit) return
    checkNested(relativePath, path, action)
    if (options.completesRepository?.(relativePath) === true) {
      throw refusal(relativePath, 'it turns a directory into a git repository', 'protect', path)
    }
    const trusted = trustedNear(relativePath).find(
      (each) => path === each || path.startsWith(`${each}/`),
    )
    if (trusted === undefined) return
    const because = `the configuration of its repository names ${JSON.stringify(trusted)}`
    throw refusal(relativePath, because, 'protect', trusted)
  }

  function trustedNear(relativePath: string): readonly string[] {
    return options.trustedNear?.(relativePath).map(fold) ?? []
  }

  /** What is protected in the root's repository is protected in those below it. */
  function checkNested(relativePath: string, path: string, action: 'change' | 'write'): void {
    for (const inner of repositoryPaths(path)) {
      if (inner === '.git' && action === 'write') {
        throw refusal(relativePath, 'it turns a directory into a git repository', 'protect', '.git')
      }
      const name = protectedBy(inner)
      if (name === undefined) continue
      const because = `${JSON.stringify(name)} is protected in every repository`
      throw refusal(relativePath, because, 'protect', name)
    }
  }

  return {
    denied,
    check,
    checkResolved({ relativePath, spellings }, action) {
      check(relativePath, action)
      for (const spelling of spellings) check(spelling, action)
    },
    checkLinks(relativePath, stat) {
      if (stat.nlink <= BigInt(options.maxLinks)) return
      throw new SandboxError(
        'TOOL_PATH_DENIED',
        `${quotePath(relativePath)} has ${stat.nlink} hard links (limit ${options.maxLinks}): changing it could change a file outside the root. Copy it, or raise maxLinks.`,
        {
          details: { path: relativePath, rule: 'maxLinks', links: Number(stat.nlink) },
          effect: 'none',
        },
      )
    },
    concernsBelow(relativePath) {
      if (deny.length > 0) return true
      const path = fold(relativePath)
      if (names.some(({ folded }) => path === '' || folded.startsWith(`${path}/`))) return true
      if (!isAboutGit) return false
      return (
        trustedNear(relativePath).some((each) => each.startsWith(`${path}/`)) ||
        repositoryPaths(path).some((inner) =>
          names.some(({ folded }) => folded.startsWith(`${inner}/`)),
        )
      )
    },
  }
}

/** Its `exec` lines run programs when the owner continues the rebase. */
const rebaseTodo = '.git/rebase-merge/git-rebase-todo'

/** The ends of a path that begin with a directory `.git` below the root: `.git/config` of `a/b/.git/config`. */
function repositoryPaths(path: string): readonly string[] {
  const found: string[] = []
  for (let at = path.indexOf('/.git'); at !== -1; at = path.indexOf('/.git', at + 1)) {
    const end = path[at + '/.git'.length]
    if (end === undefined || end === '/') found.push(path.slice(at + 1))
  }
  return found
}

/**
 * The form of a path in which rules are compared: folded where the volume folds, so that `.ENV` matches the rule `.env`.
 */
export function foldPath(
  path: string,
  { foldCase, normalizeUnicode }: Pick<PathPolicyOptions, 'foldCase' | 'normalizeUnicode'>,
): string {
  const composed = normalizeUnicode ? path.normalize('NFC') : path
  return foldCase ? composed.toLowerCase() : composed
}

// File systems of Linux that fold case: FAT, exFAT, NTFS (both drivers), HFS+, CIFS, SMB2, 9p as Windows shares use it.
const foldingFileSystems: ReadonlySet<number> = new Set([
  0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e, 0x482b, 0xff534d42, 0xfe534d42, 0x01021997,
])

/** Whether rules fold case. Always on platforms whose volumes usually do: a missed match is worse than an extra one. */
export function foldsCase(platform: NodeJS.Platform, fileSystemType: number): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return foldingFileSystems.has(fileSystemType)
}

function trimSlashes(text: string): string {
  return text.replace(/^\.?\/+/u, '').replace(/\/+$/u, '')
}

function refusal(path: string, because: string, option: string, rule: string): SandboxError {
  return new SandboxError(
    'TOOL_PATH_DENIED',
    `${quotePath(path)} cannot be ${option === 'deny' ? 'used' : 'changed'}: ${because}. Work on another file, or tell the user what has to change there.`,
    {
      details: { path, rule: option, match: rule, option: `files.${option}` },
      effect: 'none',
    },
  )
}
