import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'

/** A source that was left out, and why. */
export interface SkippedSource {
  /** A file, or a program. */
  readonly from: string
  readonly why: string
}

const programMs = 20_000

/**
 * Reads configuration of the user and of the system.
 *
 * *Guarantees*: reads no file, starts no program and passes on no variable that a command with this root could have
 * written, also where a name outside is a link to the inside. Programs run in `/`.
 * *Does not protect against* a hard link to the inside, and files that another user may write.
 */
export class OutsideSources {
  readonly skipped: SkippedSource[] = []
  readonly home: string = homedir()
  readonly #rootDir: string

  /** @throws Error when the root does not exist */
  constructor(rootDir: string) {
    this.#rootDir = realpathSync(rootDir)
  }

  /** Where the user's programs keep their settings. */
  get configHome(): string {
    const named = process.env['XDG_CONFIG_HOME'] ?? ''
    return isAbsolute(named) ? named : join(this.home, '.config')
  }

  /** Whether a name leads into the root. A name that cannot be followed is judged by its parent. */
  isInside(path: string): boolean {
    const way = relative(this.#rootDir, realPathOf(path))
    return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  }

  /** `null` where there is none, or none that counts. */
  read(path: string): string | null {
    if (this.isInside(path)) {
      if (existsSync(path)) this.skip(path, 'it lies in the root')
      return null
    }
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.skip(path, `it cannot be read (${code})`)
      return null
    }
  }

  /** The names in a directory that end so. */
  list(directory: string, ending: string): readonly string[] {
    if (this.isInside(directory)) return []
    try {
      const names = readdirSync(directory).filter((name) => name.endsWith(ending))
      return names.toSorted().map((name) => join(directory, name))
    } catch {
      return []
    }
  }

  skip(from: string, why: string): void {
    this.skipped.push({ from, why })
  }

  /** What a program prints; `null` where it is not installed or fails. */
  async ask(
    name: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string | null> {
    const path = (process.env['PATH'] ?? '')
      .split(delimiter)
      .filter((directory) => isAbsolute(directory) && !this.isInside(directory))
    const program = path
      .map((directory) => join(directory, name))
      .find((file) => isExecutable(file) && !this.isInside(file))
    if (program === undefined) {
      this.skip(name, 'it is not installed outside the root')
      return null
    }
    const env = { HOME: this.home, PATH: path.join(delimiter), LC_ALL: 'C', ...variables }
    const options = { cwd: '/', env, encoding: 'utf8', timeout: programMs } as const
    return new Promise((resolve) => {
      execFile(program, [...args], options, (error, stdout) => {
        if (error !== null) this.skip(program, `it failed (${error.message.slice(0, 200)})`)
        resolve(error === null ? stdout : null)
      })
    })
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where a file really is, or the nearest directory above it that exists. */
function realPathOf(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      return realpathSync(at)
    } catch {
      if (dirname(at) === at) return at
    }
  }
}
