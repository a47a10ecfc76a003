import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { isWithin, someWithin } from '../../path-rules/path-order.ts'
import type { DirectoryRequest } from './command-directories.ts'
import { type EtcEntries, settingsFor, type SystemMounts } from './system-mounts.ts'

/** A copy of the files that commands see as `/etc`, and the state that it was made from. */
interface Snapshot {
  /** `null`: it could not be made. */
  readonly directory: string | null
  readonly stamp: string
}

const snapshots = new Map<string, Snapshot>()

/**
 * Returns the {@link etcSnapshot} for a command; `null` for one that needs settings of its own: nothing more can be mounted
 * in the snapshot, which is read-only, and a reading command sees no `/etc`.
 */
export function etcSnapshotFor(
  { policy, rootDir, env }: DirectoryRequest,
  { etc }: SystemMounts,
  tools: readonly string[],
): string | null {
  const mounted = [rootDir, ...policy.read, ...tools, env['HOME'] ?? '/', env['TMPDIR'] ?? '/']
  if (policy.access === 'read' || someWithin(mounted.map(normalize), '/etc')) {
    return null
  }
  return etcSnapshot(etc, { key: `${process.geteuid?.()} ${settingsFor(policy)}`, rootDir })
}

/**
 * Returns a private directory with copies of the allow-listed entries of `/etc`: one mount, where mounting and
 * copying each into every command's view takes some 20 steps. Made again when one of them has changed; removed when this
 * process exits. A process that is killed leaves its copy to the next one that needs it.
 *
 * In memory and never in a directory that commands may write: `null` where no memory file system is available, or it is full.
 */
export function etcSnapshot(
  entries: EtcEntries,
  { key, rootDir }: { readonly key: string; readonly rootDir: string },
): string | null {
  if (isWithin(memoryDirectory, rootDir)) return null
  const stamp = stampOf(entries)
  const known = snapshots.get(key)
  const isThere = known !== undefined && (known.directory === null || existsSync(known.directory))
  if (isThere && known.stamp === stamp) return known.directory
  const directory = makeSnapshot(entries)
  snapshots.set(key, { directory, stamp })
  return directory
}

const memoryDirectory = '/dev/shm'
const prefix = 'smithers-etc-'

/** What changes with each of them: they are packages' files, replaced as a whole. */
function stampOf({ files, directories }: EtcEntries): string {
  return [...files, ...directories]
    .map((name) => {
      const stats = statSync(name, { throwIfNoEntry: false })
      return `${stats?.ino} ${stats?.mtimeMs} ${stats?.size}`
    })
    .join('\n')
}

function makeSnapshot(entries: EtcEntries): string | null {
  try {
    removeStaleSnapshots()
    // Mode 0700; commands see the directory inside it.
    const base = mkdtempSync(join(memoryDirectory, `${prefix}${process.pid}-`))
    removeAtExit(base)
    const directory = join(base, 'etc')
    fill(directory, entries)
    return directory
  } catch {
    // No memory file system, or it is full: each command gets its own copies.
    return null
  }
}

function fill(directory: string, { files, links, directories }: EtcEntries): void {
  const inside = (name: string): string => {
    const path = join(directory, name.slice('/etc/'.length))
    mkdirSync(dirname(path), { recursive: true })
    return path
  }
  for (const name of directories) copyTree(name, inside(name))
  for (const { name, target } of links) symlinkSync(target, inside(name))
  for (const name of files) copyFileSync(name, inside(name))
}

/** Links stay links: what they lead to may be visible inside or not, as where the directory itself is mounted. */
function copyTree(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    try {
      if (entry.isDirectory()) copyTree(source, target)
      else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
      else if (entry.isFile()) copyFileSync(source, target)
    } catch (error) {
      // What this user may not read, a command could not read either.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    }
  }
}

let toRemove: string[] | undefined

function removeAtExit(directory: string): void {
  if (toRemove === undefined) {
    const all: string[] = (toRemove = [])
    process.once('exit', () => {
      for (const each of all) remove(each)
    })
  }
  toRemove.push(directory)
}

/** Of this user's processes that were killed before they could do it. */
function removeStaleSnapshots(): void {
  for (const name of readdirSync(memoryDirectory)) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10)))
      continue
    const path = join(memoryDirectory, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.()) remove(path)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Another process is removing it, or it changed owners.
  }
}
