import { insideOf, overlapsAny, someWithin } from '../../path-rules/path-order.ts'
import { keptOfHome } from '../private-home.ts'
import type { CommandDirectories, HiddenDirectory } from './command-directories.ts'

/** A directory of the home that outlasts the command. */
export interface KeptDirectory {
  /** Where the command finds it. */
  readonly path: string
  /** Where it lies outside. */
  readonly source: string
}

/**
 * The directory to mount in place of a home, with everything that earlier commands left in it; `null` where something else
 * is mounted beneath the home: an earlier command could have put a file or a link in place of a directory above that
 * mount point, and no later command could start.
 */
export function wholeHome(
  { path, home }: HiddenDirectory,
  directories: CommandDirectories,
  rootDir: string,
): string | null {
  return home === null || someWithin(mountedBeside(path, directories, rootDir), path)
    ? null
    : home.whole
}

/** What is kept of homes in file systems of the command's own, where nothing else is mounted in it. */
export function keptDirectories(
  directories: CommandDirectories,
  rootDir: string,
): readonly KeptDirectory[] {
  return directories.hidden.flatMap(({ path: hidden, home }) => {
    if (home === null) return []
    // What the home lies in is covered by it.
    const others = insideOf(mountedBeside(hidden, directories, rootDir), [hidden])
    return keptOfHome.flatMap((name) => {
      const path = `${hidden}/${name}`
      return overlapsAny(path, others) ? [] : [{ path, source: `${home.kept}/${name}` }]
    })
  })
}

function mountedBeside(
  home: string,
  { hidden, readable, writable }: CommandDirectories,
  rootDir: string,
): readonly string[] {
  const others = hidden.map(({ path }) => path).filter((path) => path !== home)
  return [rootDir, ...others, ...readable, ...writable]
}
