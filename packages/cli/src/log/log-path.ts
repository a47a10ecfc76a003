import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { defaultLogPath } from '@smithers/log-sqlite'
import { isPostgres } from './log-target.ts'
import { isBeneath } from '../sandbox/root-directory.ts'
import { badInput } from '../errors/command-failure.ts'

/** The default log of this process, once a command has asked for it. */
let defaultPath: string | undefined

/**
 * The log of a command: the given file or connection string, or the project's log in the user's state directory. The project is the nearest
 * folder above the working directory with a `.git`, or the working directory itself.
 */
export function logPathOf(given: string | undefined): string {
  if (given !== undefined) return given
  const fromEnvironment = process.env['SMITHERS_LOG']
  if (fromEnvironment) return fromEnvironment
  defaultPath ??= defaultLogPath(process.cwd())
  return defaultPath
}

/** True for the log that a command reads without `--log`. */
export function isDefaultLog(path: string): boolean {
  return path === (process.env['SMITHERS_LOG'] || defaultPath)
}

/**
 * Refuses a log inside the root: tools could approve their own calls in it, or erase what they did.
 *
 * @throws CommandFailure
 */
export function assertLogOutsideRoot(path: string, rootDir: string): void {
  if (isPostgres(path) || !isBeneath(realpathSync(rootDir), realPath(path))) return
  const advice = isDefaultLog(path)
    ? 'Set XDG_STATE_HOME or --log to a place outside the root'
    : 'Leave --log out to keep the log in your state directory, or give a file outside the root'
  throw badInput(
    `The log ${path} is inside the root ${rootDir}, where the agent could change it. ${advice}.`,
  )
}

/** The path with its links resolved, also when the file does not exist yet. */
function realPath(path: string): string {
  const absolute = resolve(path)
  if (existsSync(absolute)) return realpathSync(absolute)
  const folder = dirname(absolute)
  return folder === absolute ? absolute : join(realPath(folder), basename(absolute))
}
