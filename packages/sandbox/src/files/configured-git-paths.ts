import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import { readFileHead } from './io/read-file-head.ts'
import type { OpenRoot } from './open-root.ts'
import { expandHome, userGitConfigs } from './user-git-config.ts'

/** More than any configuration that a person writes. */
const maxConfigBytes = 256 * 1024

/** As git allows. */
const maxIncludeDepth = 10

/** A repository, by paths from the root. */
export interface RepositoryPlace {
  /** Its directory with `config`. */
  readonly git: string
  /** The directory that its files are checked out in. */
  readonly worktree: string
}

/**
 * Returns the paths in a root that configurations name as trusted: the directory of the hooks, and the included files.
 * Reads those of the repository, of this user and of the system. Conditions of includes are not evaluated: each may hold
 * later.
 */
export function configuredGitPaths(
  { rootDir, handle }: OpenRoot,
  place: RepositoryPlace,
): readonly string[] {
  const found = new Set<string>()
  const read = (config: string, depth: number): void => {
    for (const { key, value } of settingsAt(`${handle}/${config}`)) {
      const base = key === 'hookspath' ? place.worktree : posix.dirname(config)
      const path = pathInRoot(rootDir, base, value)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      if (key === 'path' && depth < maxIncludeDepth) read(path, depth + 1)
    }
  }
  const readOutside = (config: string, depth: number): void => {
    for (const { key, value } of settingsAt(config)) {
      const isHooks = key === 'hookspath'
      const named = expandHome(value) ?? ''
      const target = isHooks || named === '' ? named : posix.resolve(posix.dirname(config), named)
      const path = pathInRoot(rootDir, isHooks ? place.worktree : '', target)
      if (path === undefined) {
        if (!isHooks && target !== '' && depth < maxIncludeDepth) readOutside(target, depth + 1)
      } else if (!found.has(path)) {
        found.add(path)
        if (!isHooks && depth < maxIncludeDepth) read(path, depth + 1)
      }
    }
  }
  for (const name of ['config', 'config.worktree']) read(posix.join(place.git, name), 0)
  for (const config of userGitConfigs()) readOutside(config, 0)
  return [...found]
}

function pathInRoot(rootDir: string, base: string, written: string): string | undefined {
  const value = expandHome(written) ?? ''
  if (value === '' || value.includes('\0')) return undefined
  const path = posix.relative(rootDir, posix.resolve(rootDir, base, value))
  return path === '' || path === '..' || path.startsWith('../') ? undefined : path
}

interface Setting {
  readonly key: 'hookspath' | 'path'
  readonly value: string
}

const known = new Map<string, { readonly stamp: string; readonly settings: readonly Setting[] }>()
const maxKnown = 1_000

/** Read again only after it changed: this is asked before and after every command. */
function settingsAt(path: string): readonly Setting[] {
  try {
    const { dev, ino, size, ctimeMs } = lstatSync(path)
    const stamp = `${dev} ${ino} ${size} ${ctimeMs}`
    const last = known.get(path)
    if (last?.stamp === stamp) return last.settings
    const settings = parse(readFileHead(path, maxConfigBytes)?.toString('utf8') ?? '')
    if (known.size >= maxKnown) known.clear()
    known.set(path, { stamp, settings })
    return settings
  } catch {
    // Missing, a link, or closed to this user, and so to git.
    return []
  }
}

/** The settings that name paths, of a configuration with whatever else in it. */
function parse(text: string): readonly Setting[] {
  const settings: Setting[] = []
  let section = ''
  // A backslash at the end continues a line.
  for (const line of text.replaceAll(/\\\r?\n/gu, '').split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/u.exec(line)
    section = header?.[1]?.toLowerCase() ?? section
    const rest = header === null ? line : line.slice(header[0].length)
    const setting = /^\s*([a-z][\w-]*)\s*=(.*)$/iu.exec(rest)
    const key = setting?.[1]?.toLowerCase()
    const isHooks = section === 'core' && key === 'hookspath'
    const isInclude = /^include(?:if)?(?:\.|$)/u.test(section) && key === 'path'
    if (isHooks || isInclude) settings.push({ key, value: plainValue(setting?.[2] ?? '') })
  }
  return settings
}

/** Without quotes, escapes and comments, as git reads it. */
function plainValue(written: string): string {
  let value = ''
  let isQuoted = false
  for (let at = 0; at < written.length; at += 1) {
    const character = written[at] ?? ''
    if (character === '\\') {
      at += 1
      value += escapes[written[at] ?? ''] ?? written[at] ?? ''
    } else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === '#' || character === ';')) break
    else value += character
  }
  return value.trim()
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b' }
