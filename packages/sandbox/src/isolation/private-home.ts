import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../path-rules/path-order.ts'
import { makeTemporaryDirectory, removeTemporaryDirectory } from './process-directory.ts'

/** A home directory that the commands of one sandbox share instead of the user's. */
export interface PrivateHome {
  readonly directory: string
  remove(): void
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
  for (const name of keptOfHome) mkdirSync(join(directory, name), { recursive: true, mode: 0o700 })
  return { directory, remove: () => removeTemporaryDirectory(directory) }
}
