import { lstatSync, readdirSync } from 'node:fs'
import type { Violation } from '../sandbox.ts'

/** What stood at the watched names: path from the root → what would differ if it were changed. */
export type NameSnapshot = ReadonlyMap<string, string>

/** A watched directory with more entries than this is looked at no further: it was not made by hand. */
const maxEntries = 2_000

/**
 * Looks at names that a command may not change, to compare afterwards. Names that exist are also read-only for the
 * command where the backend can do that; those that appear can only be found this way, since a placeholder in the
 * workspace would be a change that no command made.
 *
 * *Guarantees*: a name that is new, changed or gone afterwards differs; no program can set back the time of change that
 * is compared. *Does not protect against* changes being used while the command still runs, and does not tell two
 * commands apart that run at the same time.
 */
export function snapshotNames(rootDir: string, names: readonly string[]): NameSnapshot {
  const snapshot = new Map<string, string>()
  const missing = new Set<string>()
  for (const name of names) {
    // One look at `.git` answers for everything in it.
    const slash = name.indexOf('/')
    const top = slash < 0 ? name : name.slice(0, slash)
    if (missing.has(top)) continue
    if (slash >= 0 && lstat(`${rootDir}/${top}`) === undefined) missing.add(top)
    else look(rootDir, name, snapshot)
  }
  return snapshot
}

/** What changed between two snapshots. */
export function changedNames(before: NameSnapshot, after: NameSnapshot): readonly Violation[] {
  const violations: Violation[] = []
  const report = (path: string, what: string): void => {
    violations.push({
      rule: 'protected-name',
      subject: path,
      message: `The command ${what} "${path}", a protected name that something outside the sandbox trusts.`,
    })
  }
  for (const [path, state] of after) {
    const earlier = before.get(path)
    if (earlier === undefined) report(path, 'created')
    else if (earlier !== state) report(path, 'changed')
  }
  for (const path of before.keys()) if (!after.has(path)) report(path, 'removed')
  return violations
}

function look(rootDir: string, path: string, snapshot: Map<string, string>): void {
  const stats = lstat(`${rootDir}/${path}`)
  if (stats === undefined || snapshot.size > maxEntries) return
  if (!stats.isDirectory()) {
    snapshot.set(path, `${stats.ino} ${stats.size} ${stats.ctimeMs} ${stats.mode}`)
    return
  }
  // A directory's own times change with its entries, which are looked at one by one.
  snapshot.set(path, `${stats.ino} ${stats.mode}`)
  for (const entry of entriesOf(`${rootDir}/${path}`)) look(rootDir, `${path}/${entry}`, snapshot)
}

function lstat(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Below a file, or unreadable: nothing that could be compared.
    return undefined
  }
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
