import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '../../isolation/process-directory.ts'
import { readFileHead } from '../../files/io/read-file-head.ts'
import { homeDirectory } from '../../options/home-directory.ts'

/** The global configuration of git for the commands of one sandbox. */
export interface GlobalGitConfig {
  /** To be writable for commands: git replaces the file in it. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  remove(): void
}

const maxConfigBytes = 256 * 1024

/**
 * A global configuration for commands that cannot see the home directory: it begins with the name and address that the
 * user commits under, and keeps what commands set with `git config --global` for as long as the sandbox is open. Only
 * commands read it.
 */
export function createGlobalGitConfig(rootDir: string): GlobalGitConfig {
  const directory = makeTemporaryDirectory('git', rootDir)
  const file = join(directory, 'config')
  writeFileSync(file, identityOf(userConfigs()), { mode: 0o600 })
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  return { directory, env: { GIT_CONFIG_GLOBAL: file }, remove }
}

/** The user's configurations, the one that wins last. */
function userConfigs(): readonly string[] {
  const { GIT_CONFIG_GLOBAL: own, XDG_CONFIG_HOME: configured } = process.env
  const base =
    configured === undefined || configured === '' ? join(homeDirectory(), '.config') : configured
  const paths =
    own === undefined ? [join(base, 'git/config'), join(homeDirectory(), '.gitconfig')] : [own]
  return paths.map((path) => {
    try {
      return readFileHead(realpathSync(path), maxConfigBytes)?.toString('utf8') ?? ''
    } catch {
      return ''
    }
  })
}

/** `user.name` and `user.email` as a configuration of their own. Other files that one includes are not read. */
function identityOf(configs: readonly string[]): string {
  const found = new Map<string, string>()
  for (const config of configs) {
    let section = ''
    for (const line of config.split('\n')) {
      section = /^\s*\[([^\]]*)\]/u.exec(line)?.[1]?.trim().toLowerCase() ?? section
      const setting = /^\s*(?:\[user\])?\s*(name|email)\s*=\s*(.*)$/iu.exec(line)
      if (section !== 'user' || setting === null) continue
      const [, name = '', value = ''] = setting
      found.set(name.toLowerCase(), plainValue(value))
    }
  }
  const lines = [...found].map(
    ([name, value]) => `\t${name} = "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`,
  )
  return lines.length === 0 ? '' : `[user]\n${lines.join('')}`
}

/** Without quotes and comments. */
function plainValue(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/u.exec(value.trim())?.[1]
  return quoted?.replaceAll(/\\(.)/gu, '$1') ?? value.replace(/\s*[#;].*$/u, '').trim()
}
