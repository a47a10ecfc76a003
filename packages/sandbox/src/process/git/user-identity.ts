import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { readFileHead } from '../../files/io/read-file-head.ts'
import { homeDirectory } from '../../options/home-directory.ts'
import { isWithin } from '../../path-rules/path-order.ts'

const maxConfigBytes = 256 * 1024

/** As deep as git itself follows includes. */
const maxDepth = 10

/**
 * The `name` and `email` that the user commits under, from the configurations of the system and of the user, and from what
 * these include. A file in the root is never read: commands can write it.
 */
export function userIdentity(rootDir: string): ReadonlyMap<string, string> {
  const identity = new Map<string, string>()
  for (const path of userConfigs()) readInto(identity, path, rootDir, 0)
  return identity
}

/** The one that wins last. */
function userConfigs(): readonly string[] {
  const { GIT_CONFIG_GLOBAL: own, GIT_CONFIG_NOSYSTEM: withoutSystem } = process.env
  const { GIT_CONFIG_SYSTEM: system = '/etc/gitconfig', XDG_CONFIG_HOME: configured } = process.env
  const base =
    configured === undefined || configured === '' ? join(homeDirectory(), '.config') : configured
  return [
    ...(withoutSystem === undefined ? [system] : []),
    ...(own === undefined
      ? [join(base, 'git/config'), join(homeDirectory(), '.gitconfig')]
      : [own]),
  ]
}

function readInto(
  identity: Map<string, string>,
  path: string,
  rootDir: string,
  depth: number,
): void {
  const config = depth > maxDepth ? undefined : readConfig(path, rootDir)
  let section = ''
  for (const line of (config ?? '').split('\n')) {
    section = /^\s*\[([^\]]*)\]/u.exec(line)?.[1]?.trim() ?? section
    const setting = /^\s*(?:\[[^\]]*\])?\s*(name|email|path)\s*=\s*(.*)$/iu.exec(line)
    if (setting === null) continue
    const [, name = '', given = ''] = setting
    const value = plainValue(given)
    if (name.toLowerCase() === 'path') {
      if (includes(section, rootDir))
        readInto(identity, fromConfig(value, path), rootDir, depth + 1)
    } else if (section.toLowerCase() === 'user') identity.set(name.toLowerCase(), value)
  }
}

function readConfig(path: string, rootDir: string): string | undefined {
  try {
    const real = realpathSync(path)
    return isWithin(real, rootDir)
      ? undefined
      : readFileHead(real, maxConfigBytes)?.toString('utf8')
  } catch {
    return undefined
  }
}

/** Of the conditions of git, the one that depends on the directory of the repository alone. */
function includes(section: string, rootDir: string): boolean {
  if (section.toLowerCase() === 'include') return true
  const pattern = /^includeif\s+"gitdir:(.*)"$/iu.exec(section)?.[1]
  if (pattern === undefined || !pattern.endsWith('/') || /[*?[]/u.test(pattern)) return false
  const directory = fromHome(pattern.slice(0, -1))
  return isAbsolute(directory) && isWithin(join(rootDir, '.git'), directory)
}

function fromConfig(path: string, config: string): string {
  const expanded = fromHome(path)
  return isAbsolute(expanded) ? expanded : join(dirname(config), expanded)
}

function fromHome(path: string): string {
  return path.startsWith('~/') ? join(homeDirectory(), path.slice(2)) : path
}

/** Without quotes and comments. */
function plainValue(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/u.exec(value.trim())?.[1]
  return quoted?.replaceAll(/\\(.)/gu, '$1') ?? value.replace(/\s*[#;].*$/u, '').trim()
}
