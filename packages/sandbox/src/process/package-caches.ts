import { constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { copyFile, link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HomeDirectories, ShownDirectory } from '../isolation/isolation-policy.ts'
import { homeDirectory } from '../options/home-directory.ts'
import { isWithin } from '../path-rules/path-order.ts'

/** What {@link sharePackageCaches} needs to know. */
export interface CacheRequest {
  readonly rootDir: string
  /** Where commands find the user's caches: at a path of their own, or where they are. */
  readonly showsElsewhere: boolean
  /** The home of the commands. */
  readonly home: HomeDirectories
  /** Its path as commands see it. */
  readonly homePath: string
}

/** The caches, for the policy of each command. */
export interface SharedCaches {
  readonly shown: readonly ShownDirectory[]
  readonly read: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * Puts what npm and pnpm of the user have downloaded into the home of a sandbox's commands: links to directories that
 * commands can only read, and copies of the small files that pnpm writes to.
 *
 * *Guarantees*: no command can change the user's caches; of npm's configuration only the addresses of registries are
 * passed on, without names and passwords; nothing in the root decides what is shown.
 * *Does not protect against*: a command that reads private packages which the user has installed, or a password that is
 * part of the path of a registry.
 */
export async function sharePackageCaches(request: CacheRequest): Promise<SharedCaches> {
  const { rootDir, showsElsewhere, home } = request
  const shown: ShownDirectory[] = []
  const show = (source: string): string => {
    const path = showsElsewhere ? `/run/smithers/caches/${shown.length}` : source
    shown.push({ source, path })
    return path
  }
  const found = await findCaches(rootDir)
  const links = found.directories.map(({ source, to }) => ({ to, target: show(source) }))
  for (const directory of [home.whole, home.kept]) {
    for (const { to, target } of links) await put(directory, to, (at) => symlink(target, at))
    for (const { source, to } of found.files) {
      // One copy for both: a command has one of the two homes. pnpm may remove what it has just written to.
      const copied = join(home.whole, to)
      const write = (at: string): Promise<void> =>
        at === copied ? copyFile(source, at, constants.COPYFILE_FICLONE) : link(copied, at)
      await put(directory, to, write).catch(() => {})
    }
    const settings = { ...pnpmSettings(request.homePath), [npmrc]: npmSettings(rootDir) }
    for (const [to, text] of Object.entries(settings)) {
      await put(directory, to, (at) => writeFile(at, text, { mode: 0o600 }))
    }
  }
  const userconfig = join(request.homePath, npmrc)
  return {
    shown: showsElsewhere ? shown : [],
    read: showsElsewhere ? [] : shown.map(({ source }) => source),
    env: { npm_config_userconfig: userconfig, pnpm_config_userconfig: userconfig },
  }
}

/** Something of the user's caches, and its place in a home. */
interface FoundCache {
  readonly source: string
  readonly to: string
}

async function findCaches(rootDir: string): Promise<{
  readonly directories: readonly FoundCache[]
  readonly files: readonly FoundCache[]
}> {
  const directories: FoundCache[] = []
  const files: FoundCache[] = []
  const add = (source: string, to: string): void => {
    const real = outside(source, rootDir)
    if (real !== null) directories.push({ source: real, to })
  }
  add(join(npmCache(), '_cacache'), '.npm/_cacache')
  for (const version of await versionsIn(pnpmStore())) {
    const [store, to] = [join(pnpmStore(), version), join(storeInHome, version)]
    // What is installed, by the hash of its contents, and a list of it: a directory until version 10, then a database.
    for (const name of ['files', 'index']) add(join(store, name), join(to, name))
    for (const name of ['index.db', 'index.db-wal']) {
      const source = outside(join(store, name), rootDir)
      if (source !== null) files.push({ source, to: join(to, name) })
    }
  }
  for (const version of await versionsIn(pnpmCache())) {
    add(join(pnpmCache(), version), join('.cache/pnpm', version))
  }
  return { directories, files }
}

async function put(
  home: string,
  name: string,
  write: (path: string) => Promise<void>,
): Promise<void> {
  const path = join(home, name)
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  await write(path)
}

/** In a directory of the home that is kept everywhere, unlike `~/.npmrc`. */
const npmrc = '.config/npm/npmrc'

const storeInHome = '.local/share/pnpm/store'

/** Elsewhere pnpm would make a store in the root: it cannot link files between the two file systems. */
function pnpmSettings(homePath: string): Readonly<Record<string, string>> {
  const store = join(homePath, storeInHome)
  return {
    '.config/pnpm/rc': `store-dir=${store}\n`,
    '.config/pnpm/config.yaml': `storeDir: ${JSON.stringify(store)}\n`,
  }
}

/** The addresses of registries: what is cached is found by its address. */
function npmSettings(rootDir: string): string {
  const named = process.env['npm_config_registry'] ?? ''
  const lines = [
    ...settingsOf(join(homeDirectory(), '.npmrc'), rootDir),
    ...(named === '' ? [] : [`registry=${named}`]),
  ]
  return lines
    .flatMap((line) => {
      const [, name, address] = /^\s*((?:@[\w.-]+:)?registry)\s*=\s*(\S+)\s*$/.exec(line) ?? []
      return name !== undefined && isBare(address ?? '') ? [`${name}=${address}\n`] : []
    })
    .join('')
}

/** Most bytes of a file of settings. */
const maxSettingsBytes = 1_048_576

/** Its lines; none where it cannot be read. Reading a pipe would never end. */
function settingsOf(path: string, rootDir: string): readonly string[] {
  try {
    const file = outside(path, rootDir)
    if (file === null) return []
    const status = statSync(file)
    const isSmall = status.isFile() && status.size <= maxSettingsBytes
    return isSmall ? readFileSync(file, 'utf8').split(/\r?\n/) : []
  } catch {
    return []
  }
}

/** An address without anything that may be a password or stand for one: a user, a query, a parameter, a variable. */
function isBare(address: string): boolean {
  return /^https?:\/\/[^@$;?#]+$/.test(address) && URL.canParse(address)
}

function npmCache(): string {
  return process.env['npm_config_cache'] ?? join(homeDirectory(), '.npm')
}

function pnpmStore(): string {
  const { env } = process
  const named = env['pnpm_config_store_dir'] ?? env['npm_config_store_dir']
  return named ?? join(env['XDG_DATA_HOME'] ?? join(homeDirectory(), '.local/share'), 'pnpm/store')
}

function pnpmCache(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homeDirectory(), '.cache'), 'pnpm')
}

async function versionsIn(directory: string): Promise<readonly string[]> {
  // A cache that cannot be used is none.
  const names = await readdir(directory).catch(() => [])
  return names.filter((name) => /^v\d+$/.test(name))
}

/** Where a name leads to, unless it does not exist or leads into the root, where a command may have put it. */
function outside(path: string, rootDir: string): string | null {
  if (!existsSync(path)) return null
  const real = realpathSync(path)
  return isWithin(real, rootDir) || isWithin(rootDir, real) ? null : real
}
