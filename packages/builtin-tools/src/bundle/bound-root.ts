import type { BigIntStats } from 'node:fs'
import type { Sandbox, SandboxFiles } from '@smithers/sandbox'
import { SmithersError, type TaskContext } from '@smithers/tool-core'

/** The fields of a context that say whose root it is. */
export type RootOwner = Partial<Pick<TaskContext, 'runId' | 'ephemeral'>>

/** Directories remembered, by run and path. */
const maxBound = 4_096

const bound = new Map<string, string>()
/** The last one of them: most calls use the root of the call before. */
let newest: string | undefined

/**
 * Returns the identity of the directory that a root's path names: the one that it named when the run first used it. Calls
 * outside runs share one binding for as long as this process remembers it.
 *
 * *Guarantees*: when another directory or a link took its place, the tools of the run are refused. *Does not protect
 * against* an exchange between two runs: the next run works in what the path names then.
 *
 * @throws SmithersError `INVALID_INPUT`, which ends the run, when the directory does not exist
 * @throws SmithersError `TOOL_ROOT_CHANGED` when the path names another directory by now
 */
export function boundRoot(rootDir: string, { runId, ephemeral }: RootOwner): string {
  const identity = identityAt(rootDir)
  const key = `${ephemeral === true ? '' : (runId ?? '')}\n${rootDir}`
  const known = bound.get(key)
  if (known !== undefined && known !== identity) throw rootChanged()
  if (key === newest) return identity
  // To the end of the order of use.
  bound.delete(key)
  bound.set(key, identity)
  newest = key
  if (bound.size > maxBound) forgetOldest()
  return identity
}

function forgetOldest(): void {
  const [oldest] = bound.keys()
  if (oldest !== undefined) bound.delete(oldest)
}

/**
 * Returns `opened` when it holds the directory of that identity: the path may have come to name another one just before it
 * was opened.
 *
 * @throws SmithersError `TOOL_ROOT_CHANGED` otherwise, and closes `opened`
 */
export function atRoot<Opened extends SandboxFiles | Sandbox>(
  opened: Opened,
  identity: string,
): Opened {
  const files: SandboxFiles = isSandbox(opened) ? opened.files : opened
  const directory = files.openDirectory('.')
  try {
    // Where directories are not held by descriptor, the path is all there is.
    const { fd, absolutePath } = directory
    const fs = process.getBuiltinModule('node:fs')
    const stats =
      fd === undefined
        ? fs.statSync(absolutePath, { bigint: true })
        : fs.fstatSync(fd, { bigint: true })
    if (identityOf(stats) === identity) return opened
  } finally {
    directory.close()
  }
  void opened.close()
  throw rootChanged()
}

function isSandbox(opened: SandboxFiles | Sandbox): opened is Sandbox {
  return 'files' in opened
}

function identityAt(rootDir: string): string {
  let problem = 'is not a directory'
  let cause: unknown
  try {
    // Not imported statically: that would evaluate every lazy part of node:fs at import time.
    const stats = process.getBuiltinModule('node:fs').statSync(rootDir, { bigint: true })
    if (stats.isDirectory()) return identityOf(stats)
  } catch (error) {
    problem = isMissing(error) ? 'does not exist' : 'cannot be opened'
    cause = error
  }
  // The model reads this and cannot repair it, so the message omits the path.
  throw new SmithersError(
    'INVALID_INPUT',
    `The root directory of the tools ${problem}, so none of them can work. The program that started this run must create it or pass another rootDir.`,
    { details: { option: 'rootDir' }, cause, effect: 'none', fatal: true },
  )
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

function rootChanged(): SmithersError {
  return new SmithersError(
    'TOOL_ROOT_CHANGED',
    'The path of the root directory names another directory than when this run first used it, so nothing was done. The program that started this run must put the directory back, or start a new run for the new one.',
    { details: { option: 'rootDir' }, effect: 'none' },
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
