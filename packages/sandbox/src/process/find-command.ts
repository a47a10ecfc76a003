import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Whether the file system has an executable of that name. */
export type CommandLookup = 'found' | 'missing' | 'not-executable'

/**
 * Looks a command up as `execvp` does: a name with a slash is a path from `cwd`, any other is searched in `path`.
 *
 * It exists for a clear error before the spawn; what the spawn itself says still counts.
 */
export function findCommand(command: string, cwd: string, path: string | undefined): CommandLookup {
  // Windows adds extensions and searches more directories; there, the spawn error decides.
  if (process.platform === 'win32') return 'found'
  if (command.includes('/')) return findFile(isAbsolute(command) ? command : join(cwd, command))
  let best: CommandLookup = 'missing'
  for (const directory of (path ?? defaultPath).split(delimiter)) {
    const found = findFile(join(isAbsolute(directory) ? directory : join(cwd, directory), command))
    if (found === 'found') return found
    if (found === 'not-executable') best = found
  }
  return best
}

// What execvp searches when PATH is not set.
const defaultPath = '/bin:/usr/bin'

function findFile(file: string): CommandLookup {
  let stats
  try {
    stats = statSync(file, { throwIfNoEntry: false })
  } catch {
    // Not a directory on the way, no permission to search: as good as missing.
    return 'missing'
  }
  if (stats === undefined) return 'missing'
  if (!stats.isFile()) return 'not-executable'
  try {
    accessSync(file, constants.X_OK)
    return 'found'
  } catch {
    return 'not-executable'
  }
}
