import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { resolvedOutside } from './command-visibility.ts'
import { isWithin } from '../../path-rules/path-order.ts'

/** What {@link toolchainDirectories} decides from. */
export interface ToolchainSearch {
  /** The value of PATH. */
  readonly path: string
  /** Visible already: the system's directories and the root. */
  readonly visible: readonly string[]
  /** The user's home: never shown whole. */
  readonly home: string
  /** Commands write here: no link in it decides what is mounted. */
  readonly rootDir: string
  /** A program to look for in {@link ToolchainSearch.path}: what its links lead to is needed too. */
  readonly command?: string
}

/**
 * Returns the directories outside the system that the programs on PATH need: of nvm, pyenv, cargo, conda, a
 * `node_modules/.bin` and the like. They are mounted read-only, so that the tools a user has work in the sandbox too.
 *
 * A `bin` alone seldom suffices, and its parent may hold secrets (`~/.local/share/keyrings`, `~/.cargo/credentials`).
 * So known version managers give the directory that holds their programs, and any other `bin` gives itself and those
 * neighbours that are part of an installation by convention (`lib`, `include`, `share`, …).
 *
 * Guarantees: never the home directory, a directory that contains it, `/`, or a directory in `/`.
 * Does not protect against: a secret that lies inside an installation on PATH, or in a directory that is on PATH.
 */
export function toolchainDirectories(search: ToolchainSearch): string[] {
  const found = new Set<string>()
  for (const entry of [...pathDirectories(search), ...linkedDirectories(search)]) {
    const directory = entry.length > 1 ? entry.replace(/\/+$/, '') : entry
    if (!isReadableDirectory(directory)) continue
    for (const needed of neededBy(directory)) {
      const shown = search.visible.some((visible) => isWithin(needed, visible))
      const holdsOthers = isWithin(search.home, needed) || isTopLevel(needed)
      if (!shown && !holdsOthers && isReadableDirectory(needed)) found.add(needed)
    }
  }
  const directories = [...found]
  // One that lies in another needs no mount of its own.
  return directories.filter(
    (directory) => !directories.some((other) => other !== directory && isWithin(directory, other)),
  )
}

function pathDirectories({ path, rootDir }: ToolchainSearch): string[] {
  return path
    .split(':')
    .filter((entry) => entry.startsWith('/'))
    .flatMap((literal) => {
      const real = resolvedOutside(literal, rootDir)
      return real === null ? [] : [literal, real]
    })
}

/** Where the command itself lies when PATH holds a link to it (`~/bin/tool` to `~/installs/tool-1.2/bin/tool`). */
function linkedDirectories({ path, rootDir, command }: ToolchainSearch): string[] {
  if (command === undefined || command.includes('/')) return []
  for (const entry of path.split(':').filter((literal) => literal.startsWith('/'))) {
    const file = join(entry, command)
    if (!isExecutableFile(file)) continue
    const real = resolvedOutside(file, rootDir)
    return real === null || !holdsPrograms(dirname(real)) ? [] : [dirname(real)]
  }
  return []
}

/** A link led to this directory, not PATH; one such as `~/Documents` may hold other files than programs. */
function holdsPrograms(directory: string): boolean {
  return (
    ['bin', 'sbin'].includes(basename(directory)) ||
    managers.some((manager) => manager.test(directory))
  )
}

/** Version managers that keep programs, and nothing private, in one directory: the first group is that directory. */
const managers: readonly RegExp[] = [
  /^(.*\/node_modules)\/.+$/,
  /^(.*\/\.(?:pyenv|rbenv|nodenv|goenv|jenv|plenv|phpenv|asdf|volta|n|bun|deno|pub-cache|ghcup))(?:\/.*)?$/,
  /^(.*\/\.nvm\/versions\/node\/[^/]+)\/bin$/,
  /^(.*\/\.sdkman\/candidates)\/.*$/,
  /^(.*\/(?:mise|fnm|uv|rtx))\/(?:shims|installs|node-versions|tools|python)(?:\/.*)?$/,
  /^(.*\/(?:miniconda|anaconda|miniforge|mambaforge)\d*)(?:\/.*)?$/,
  /^(\/home\/linuxbrew\/\.linuxbrew)(?:\/.*)?$/,
]

/** Neighbours of a `bin` that belong to the same installation. */
const companions = [
  'bin',
  'sbin',
  'conf',
  'include',
  'jmods',
  'lib',
  'lib32',
  'lib64',
  'libexec',
  'share',
] as const

function neededBy(directory: string): string[] {
  for (const manager of managers) {
    const whole = manager.exec(directory)?.[1]
    if (whole !== undefined) return [whole]
  }
  const parent = dirname(directory)
  if (basename(directory) !== 'bin' && basename(directory) !== 'sbin') return [directory]
  // The registry is what an offline build reads; credentials lie beside these, not in them.
  if (basename(parent) === '.cargo') {
    return [
      directory,
      join(parent, 'registry'),
      join(parent, 'git'),
      join(dirname(parent), '.rustup'),
    ]
  }
  // Here `share` is the data of every program, keyrings and browser profiles among them.
  if (basename(parent) === '.local') return [directory, join(parent, 'lib')]
  if (isGoInstallation(parent)) return [parent]
  return looksInstalled(parent) ? companions.map((name) => join(parent, name)) : [directory]
}

function looksInstalled(parent: string): boolean {
  try {
    const names = new Set(readdirSync(parent))
    return names.has('lib') || names.has('lib64') || names.has('libexec')
  } catch {
    return false
  }
}

function isGoInstallation(parent: string): boolean {
  return (
    isReadableDirectory(join(parent, 'src/runtime')) && isReadableDirectory(join(parent, 'pkg'))
  )
}

/** `/home`, `/opt`, `/`: never on PATH for the programs in them. */
function isTopLevel(path: string): boolean {
  return path.lastIndexOf('/') === 0
}

function isReadableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
