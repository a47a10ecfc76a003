import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { canWalkDescriptors, openBeneathTree } from '../files/guard/beneath-tree.ts'
import { hasEnded } from '../files/io/lock-owner.ts'
import { processSpace, startTimeOf } from '../files/io/process-identity.ts'
import { emptyDirectory } from '../files/operations/remove-tree.ts'
import { isWithin } from '../path-rules/path-order.ts'

/** Where the directories of processes are, and the name that each begins with. */
const prefix = 'smithers-process-'

/** In each, and out of reach of commands: the process that made it. */
const ownerFile = 'owner'

/** By user and by the directory above. */
const made = new Map<string, string>()

/**
 * Makes an empty directory for temporary files of this process outside a root. It has mode 0700 and lies in a directory
 * that is removed when this process exits, or by the next process of the user when this one was killed.
 *
 * *Guarantees*: only directories of processes that have certainly ended are removed: same boot, same process namespace, no
 * such process. Removal follows no link.
 *
 * @throws AggregateError when no directory outside the root can be written
 */
export function makeTemporaryDirectory(kind: string, rootDir?: string): string {
  const problems: unknown[] = []
  const parents = [tmpdir(), '/tmp', '/var/tmp', process.env['XDG_RUNTIME_DIR'] ?? '/tmp']
  for (const given of new Set(parents)) {
    try {
      const parent = realpathSync(given)
      if (rootDir !== undefined && isWithin(parent, rootDir)) continue
      return mkdtempSync(join(processDirectory(parent), `${kind}-`))
    } catch (error) {
      problems.push(error)
    }
  }
  throw new AggregateError(
    problems,
    'There is no directory outside the root for temporary files. Set TMPDIR to one that can be written.',
  )
}

function processDirectory(parent: string): string {
  const key = `${process.geteuid?.() ?? -1} ${parent}`
  const known = made.get(key)
  // A cleaner of temporary files may have removed it.
  if (known !== undefined && statSync(known, { throwIfNoEntry: false }) !== undefined) return known
  const directory = mkdtempSync(join(parent, prefix))
  writeFileSync(
    join(directory, ownerFile),
    `${processSpace()} ${process.pid} ${startTimeOf(process.pid)}`,
    { mode: 0o600 },
  )
  if (made.size === 0) process.once('exit', removeAll)
  made.set(key, directory)
  void sweep(parent)
  return directory
}

function removeAll(): void {
  for (const directory of made.values()) removeAtOnce(directory)
}

/** Milliseconds between turns of the event loop. */
const turnMs = 4

/** Renames a temporary directory out of the way at once, and removes it as {@link removeInTurns} does. */
export async function discardTemporaryDirectory(directory: string): Promise<void> {
  const aside = join(dirname(directory), `removing-${crypto.randomUUID()}`)
  try {
    renameSync(directory, aside)
  } catch {
    return
  }
  await removeInTurns(aside)
}

/**
 * Removes a directory with everything in it. A few milliseconds at once, so that what commands have left does not stop
 * the event loop. Never rejects: what cannot be removed stays.
 */
export async function removeInTurns(directory: string): Promise<void> {
  const steps = removal(directory)
  for (;;) {
    const until = performance.now() + turnMs
    do {
      if (steps.next().done === true) return
    } while (performance.now() < until)
    await nextTurn()
  }
}

function removeAtOnce(directory: string): void {
  for (const _ of removal(directory)) continue
}

/** By descriptors: a command that still runs may exchange what is in the directory. */
function* removal(directory: string): Generator<void, void, void> {
  try {
    if (!canWalkDescriptors()) {
      rmSync(directory, { recursive: true, force: true })
      return
    }
    const tree = openBeneathTree(directory)
    try {
      yield* emptyDirectory(tree, tree.root, { force: true })
    } finally {
      tree.root.close()
    }
    rmdirSync(directory)
  } catch {
    // Not to be removed by this user, or gone.
  }
}

/** Removes what killed processes of this user left, a little at a time. */
async function sweep(parent: string): Promise<void> {
  try {
    const left = readdirSync(parent).filter((name) => isLeft(join(parent, name), name))
    for (const name of left) await removeInTurns(join(parent, name))
  } catch {
    // The next process tries again.
  }
}

function isLeft(path: string, name: string): boolean {
  if (!name.startsWith(prefix)) return false
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true || stats.uid !== process.geteuid?.()) return false
  return hasEnded(join(path, ownerFile))
}
