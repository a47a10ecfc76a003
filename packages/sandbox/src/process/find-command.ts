import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Whether a command can be started, as far as the file system tells. */
export type CommandLookup = 'found' | 'missing' | 'not-executable'

/**
 * Looks a command up as `execvp` does: a name with a slash is a path from `cwd`, any other is searched in `path`.
 *
 * It exists for a clear error before the spawn; what the spawn itself says still counts.
 */
export function findCommand(command: string, cwd: string, path: string | undefined): CommandLookup {
  // Windows adds extensions and looks in more places; its spawn error is the answer there.
  if (process.platform === 'win32') return 'found'
  if (command.includes('/')) return look(isAbsolute(command) ? command : join(cwd, command))
  let verdict: CommandLookup = 'missing'
  for (const directory of (path ?? defaultPath).split(delimiter)) {
    const found = look(join(isAbsolute(directory) ? directory : join(cwd, directory), command))
    if (found === 'found') return found
    if (found === 'not-executable') verdict = found
  }
  return verdict
}

// What execvp searches when PATH is not set.
const defaultPath = '/bin:/usr/bin'

function look(file: string): CommandLookup {
  let stats
  try {
    stats = statSync(file, { throwIfNoEntry: false })
  } catch {
    // Not a directory on the way, no permission to look: as good as missing.
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
