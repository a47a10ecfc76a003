import { type Dirent, readdirSync, realpathSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import picomatch from 'picomatch'
import type { OpenRoot } from '../files/open-root.ts'
import { cannotExamine, lookupFailure } from './lookup-error.ts'
import { decodeName, pathOfName, replacement } from './path-bytes.ts'
import { maxDeniedNames } from '../options/limits.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

/**
 * The existing names in a root that the globs deny, from the root, for a backend to hide. A denied directory
 * covers everything in it; a denied link covers its target inside the root.
 *
 * With globs this walks the tree before each command; without them it costs nothing. The walk only reads names: one
 * that another process swaps for a link meanwhile leads to names that do not exist under the root, and the backend
 * opens each without following links.
 *
 * A directory that permissions forbid to list is denied as a whole: the command could give itself the permission. So is
 * one that lies deeper than mounts can reach. A name that is not valid UTF-8 is matched with its invalid bytes as
 * characters that only wildcards match.
 *
 * The event loop turns while a large tree is walked, and `checkTime` is asked in each turn: what it throws ends the walk.
 *
 * @throws SandboxError `TOOL_PATH_DENIED` for more names than can be hidden, or more entries than are examined;
 * `TOOL_FILE_FAILED` when a directory cannot be listed for another reason
 */
export async function findDeniedPaths(
  root: OpenRoot,
  globs: readonly string[],
  checkTime: () => void,
): Promise<readonly string[]> {
  if (globs.length === 0) return []
  const matches = matcherOf(globs)
  const denied = new Set<string>()
  const pending = ['']
  let examined = 0
  let turnEndsAt = performance.now() + maxTurnMs
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (performance.now() > turnEndsAt) {
      await setImmediate()
      checkTime()
      turnEndsAt = performance.now() + maxTurnMs
    }
    const entries = entriesOf(root, directory)
    if (entries === 'forbidden') {
      denied.add(directory)
      continue
    }
    examined += entries.length
    if (examined > maxEntries) throw tooMuchToWalk(globs)
    for (const entry of entries) {
      const name = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (!matches(name)) {
        if (!entry.isDirectory) continue
        if (isTooDeep(name)) denied.add(name)
        else pending.push(name)
        continue
      }
      const target = entry.isLink ? targetInside(root, name) : name
      if (target !== undefined) denied.add(target)
    }
  }
  if (denied.size > maxDeniedNames) throw tooManyDenied(globs, denied.size)
  return [...denied]
}

/** Work in one turn of the event loop. */
const maxTurnMs = 8

/** Entries examined before one command: some seconds, and a hundred times a large project. */
const maxEntries = 1_000_000

/** Each directory above a denied name is a descriptor and a mount. */
const maxDepth = 100
/** Leaves room in a path for the root and for the directories above it inside. */
const maxNameBytes = 2048

function isTooDeep(name: string): boolean {
  return name.split('/').length >= maxDepth || Buffer.byteLength(name) > maxNameBytes
}

function tooMuchToWalk(globs: readonly string[]): SandboxError {
  return new SandboxError(
    'TOOL_PATH_DENIED',
    `The root holds more than ${maxEntries} entries, too many to find before each command what the deny globs match, so nothing was started. Remove some, or take a smaller root.`,
    { details: { rule: 'deny', globs, limit: maxEntries }, effect: 'none' },
  )
}

const matchers = new Map<string, (name: string) => boolean>()

function matcherOf(globs: readonly string[]): (name: string) => boolean {
  const key = globs.join('\0')
  let matches = matchers.get(key)
  if (matches === undefined) {
    const tidy = globs.map((glob) => glob.replace(/^\.?\/+/, '').replace(/\/+$/, ''))
    const one = picomatch(tidy, { dot: true, strictSlashes: false })
    matches = (name) => {
      if (one(name)) return true
      const path = pathOfName(name)
      // The other reading, in which only the invalid bytes are strange.
      return typeof path !== 'string' && one(path.toString())
    }
    matchers.set(key, matches)
  }
  return matches
}

interface Entry {
  readonly name: string
  readonly isDirectory: boolean
  readonly isLink: boolean
}

function entriesOf({ handle }: OpenRoot, directory: string): readonly Entry[] | 'forbidden' {
  const path = pathOfName(`${handle}/${directory}`)
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    if (!entries.some(({ name }) => name.includes(replacement)))
      return entries.map((entry) => toEntry(entry, entry.name))
    return readdirSync(path, { withFileTypes: true, encoding: 'buffer' }).map((entry) =>
      toEntry(entry, decodeName(entry.name)),
    )
  } catch (error) {
    const failure = lookupFailure(error)
    if (failure === 'absent') return []
    if (failure === 'forbidden' && directory !== '') return 'forbidden'
    throw cannotExamine(directory, 'deny', error)
  }
}

function toEntry(entry: Dirent | Dirent<Buffer>, name: string): Entry {
  return { name, isDirectory: entry.isDirectory(), isLink: entry.isSymbolicLink() }
}

function targetInside({ handle }: OpenRoot, name: string): string | undefined {
  let target: string
  let rootDir: string
  try {
    target = decodeName(realpathSync.native(pathOfName(`${handle}/${name}`), 'buffer'))
    // Where the root is now: the kernel resolves links to there.
    rootDir = decodeName(realpathSync.native(`${handle}/`, 'buffer'))
  } catch (error) {
    if (lookupFailure(error) === 'absent') return undefined
    throw cannotExamine(name, 'deny', error)
  }
  const prefix = rootDir === '/' ? '/' : `${rootDir}/`
  return target.startsWith(prefix) && target.length > prefix.length
    ? target.slice(prefix.length)
    : undefined
}

function tooManyDenied(globs: readonly string[], count: number): SandboxError {
  return new SandboxError(
    'TOOL_PATH_DENIED',
    `The deny globs ${globs.map((glob) => JSON.stringify(glob)).join(', ')} match ${count} names, more than the ${maxDeniedNames} that can be hidden from a command, so nothing was started. Deny the directories that hold them, or remove some.`,
    {
      details: { rule: 'deny', globs, names: count, limit: maxDeniedNames },
      effect: 'none',
    },
  )
}
