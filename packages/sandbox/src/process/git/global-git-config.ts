import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  discardTemporaryDirectory,
  makeTemporaryDirectory,
} from '../../isolation/process-directory.ts'
import { userIdentity } from './user-identity.ts'

/** The global configuration of git for the commands of one sandbox. */
export interface GlobalGitConfig {
  /** To be writable for commands: git replaces the file in it. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** Variables that name an author or a committer. */
export const identityVariables = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
] as const

/**
 * A global configuration for commands that cannot see the home directory: it begins with the name and address that the
 * user commits under, unless `hasIdentity` is false, and keeps what commands set with `git config --global` for as long as
 * the sandbox is open. Only commands read it.
 */
export function createGlobalGitConfig(rootDir: string, hasIdentity: boolean): GlobalGitConfig {
  const directory = makeTemporaryDirectory('git', rootDir)
  const file = join(directory, 'config')
  writeFileSync(file, hasIdentity ? asConfig(userIdentity(rootDir)) : '', { mode: 0o600 })
  const remove = (): Promise<void> => discardTemporaryDirectory(directory)
  return { directory, env: { GIT_CONFIG_GLOBAL: file }, remove }
}

function asConfig(identity: ReadonlyMap<string, string>): string {
  const lines = [...identity].map(
    ([name, value]) => `\t${name} = "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`,
  )
  return lines.length === 0 ? '' : `[user]\n${lines.join('')}`
}
