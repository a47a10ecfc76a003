import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { unavailable } from './sqlite-failure.ts'

/** Options of {@link stateDirectory}. */
export interface StateDirectoryOptions {
  /** Where to read `XDG_STATE_HOME`. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * The directory for the logs of a project, outside the project: `smithers/NAME-HASH` in `$XDG_STATE_HOME`, or in
 * `~/.local/state` when that is unset or relative. Created for this user alone (mode 0700).
 *
 * Links in `projectDirectory` are resolved, so one project has one directory however it is reached.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` when the project does not exist, the directory cannot be created, or another
 *   user could change it.
 */
export function stateDirectory(
  projectDirectory: string,
  { env = process.env }: StateDirectoryOptions = {},
): string {
  const configured = env['XDG_STATE_HOME']
  const home =
    configured !== undefined && isAbsolute(configured)
      ? configured
      : join(homedir(), '.local', 'state')
  const project = realProject(projectDirectory)
  try {
    const hash = createHash('sha256').update(project).digest('hex').slice(0, 12)
    const directory = join(home, 'smithers', `${readableName(project)}-${hash}`)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const own of [join(home, 'smithers'), directory]) assertPrivate(own)
    return directory
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    throw unavailable(
      'cannot-open',
      `The state directory for ${JSON.stringify(projectDirectory)} cannot be created in ${JSON.stringify(home)}: ` +
        `${error.message}. Set XDG_STATE_HOME to a writable directory, or give the log a path.`,
      { cause: error },
    )
  }
}

/**
 * The default log file of the project that `folder` belongs to: `smithers.db` in its {@link stateDirectory}. The project
 * is the nearest directory with a `.git`, from the folder upwards; without one, the folder itself.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE`, as {@link stateDirectory} does.
 */
export function defaultLogPath(folder: string, options: StateDirectoryOptions = {}): string {
  return join(stateDirectory(projectOf(folder), options), 'smithers.db')
}

function projectOf(folder: string): string {
  // From a link, the directory above it is not the one above its target.
  const start = existsSync(folder) ? realpathSync(folder) : folder
  for (let current = start; ; current = dirname(current)) {
    if (existsSync(join(current, '.git'))) return current
    if (dirname(current) === current) return start
  }
}

function realProject(directory: string): string {
  try {
    return realpathSync(directory)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw unavailable(
      'no-project',
      `The project folder ${JSON.stringify(directory)} cannot be found: ${reason}. ` +
        'Name a folder that exists, or give the log a path.',
      { cause },
    )
  }
}

/** The last name of the project's path, reduced to characters that every file system and shell takes as they are. */
function readableName(project: string): string {
  return (
    basename(project)
      .replaceAll(/[^\w.-]+/g, '-')
      .slice(0, 40) || 'root'
  )
}

/** A directory that others can write to, or that is a link, may lead a log anywhere. */
function assertPrivate(directory: string): void {
  const stats = lstatSync(directory)
  const problem = problemOf(stats)
  if (problem === null) return
  throw unavailable(
    'unsafe-directory',
    `The state directory ${JSON.stringify(directory)} ${problem}, so another user could replace the log. ` +
      'Make it a directory of your own with mode 0700, or set XDG_STATE_HOME to another place.',
  )
}

function problemOf(stats: Stats): string | null {
  if (!stats.isDirectory()) return 'is not a directory'
  if (process.platform === 'win32') return null
  // Not by userInfo(): in many containers the user has a number and no entry.
  if (stats.uid !== process.getuid?.()) return `belongs to user ${stats.uid}`
  if ((stats.mode & 0o022) !== 0) {
    return `has mode ${(stats.mode & 0o7777).toString(8)}`
  }
  return null
}
