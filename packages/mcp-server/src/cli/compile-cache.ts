import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join, relative, sep } from 'node:path'
import { realPath } from './real-path.ts'

/**
 * Keeps what Node has compiled of the modules that are loaded from now on, so that the next start does not compile them
 * again: in `smithers/compiled` of `$XDG_CACHE_HOME` or of `~/.cache`. The cache is code, so it is used only where no
 * other user and no tool can write to it: in a directory of this user's own, apart from the root. A start without the
 * cache is slower and works the same.
 */
export function keepCompiledCode(rootDir: string, env: NodeJS.ProcessEnv = process.env): void {
  const configured = env['XDG_CACHE_HOME']
  const isConfigured = configured !== undefined && isAbsolute(configured)
  const own = join(isConfigured ? configured : join(homedir(), '.cache'), 'smithers')
  const directory = join(own, 'compiled')
  try {
    // Before it is created: the root of the tools stays as it is.
    if (holds(rootDir, own)) return
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const isApart = !holds(rootDir, directory) && !holds(directory, rootDir)
    if (isApart && isOwn(own, 0o022) && isOwn(directory, 0o077)) enableCompileCache(directory)
  } catch {
    // A home that is read-only, or a root that the server will refuse.
  }
}

/** Whether a path lies in a directory, however it is reached. It need not exist. */
function holds(directory: string, path: string): boolean {
  const steps = relative(realpathSync(directory), realPath(path))
  return steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps)
}

/** Whether a directory is this user's, and gives others none of these permissions. */
function isOwn(directory: string, permissions: number): boolean {
  const stats = lstatSync(directory)
  if (!stats.isDirectory()) return false
  if (process.platform === 'win32') return true
  return stats.uid === process.getuid?.() && (stats.mode & permissions) === 0
}
