import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../path-rules/path-order.ts'
import type { HomeDirectories } from './isolation-policy.ts'
import { discardTemporaryDirectory, makeTemporaryDirectory } from './process-directory.ts'

/** A home directory that the commands of one sandbox share instead of the user's. */
export interface PrivateHome {
  readonly directories: HomeDirectories
  remove(): Promise<void>
}

/**
 * What is kept of a home where it cannot be mounted as a whole: a mount in it would follow a link that a command left
 * there. These hold the caches and settings of tools.
 */
export const keptOfHome = ['.cache', '.config', '.local/share', '.local/state', '.npm'] as const

/**
 * Makes the home of a sandbox's commands: what they leave in it lasts as long as the sandbox, and reaches neither the
 * user's own programs nor another sandbox. `undefined` where the home that they have is theirs already: it lies in the
 * root, or there is none.
 */
export function createPrivateHome(
  rootDir: string,
  env: Readonly<Record<string, string>>,
): PrivateHome | undefined {
  const home = env['HOME']
  if (home === undefined || !home.startsWith('/') || isWithin(home, rootDir)) return undefined
  const directory = makeTemporaryDirectory('home', rootDir)
  // Apart from each other: in the whole home a command can put a link in place of what is mounted by itself elsewhere.
  const directories = { whole: join(directory, 'whole'), kept: join(directory, 'kept') }
  for (const path of Object.values(directories)) {
    for (const name of keptOfHome) mkdirSync(join(path, name), { recursive: true, mode: 0o700 })
  }
  return { directories, remove: () => discardTemporaryDirectory(directory) }
}
