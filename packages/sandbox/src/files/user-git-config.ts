import { realpathSync } from 'node:fs'
import { posix } from 'node:path'

/** The configurations that git reads for this user in every repository, the system's first. Links are resolved. */
export function userGitConfigs(): readonly string[] {
  const { GIT_CONFIG_GLOBAL: own, GIT_CONFIG_SYSTEM: system, XDG_CONFIG_HOME: base } = process.env
  const home = homeOfGit()
  const inHome =
    home === undefined
      ? []
      : [
          posix.join(base || posix.join(home, '.config'), 'git/config'),
          posix.join(home, '.gitconfig'),
        ]
  const paths = [system ?? '/etc/gitconfig', ...(own === undefined ? inHome : [own])]
  return paths.flatMap((path) => {
    try {
      return [realpathSync.native(path)]
    } catch {
      return []
    }
  })
}

/** A value with a home directory in place of `~/`; `undefined` for another user's home. */
export function expandHome(value: string): string | undefined {
  if (!value.startsWith('~')) return value
  const home = homeOfGit()
  return value.startsWith('~/') && home !== undefined ? posix.join(home, value.slice(2)) : undefined
}

/** Git looks at nothing else. */
function homeOfGit(): string | undefined {
  return process.env['HOME'] || undefined
}
