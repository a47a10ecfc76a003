import { SandboxError } from '../../errors/sandbox-error.ts'
import type { IsolationPolicy } from '../isolation-policy.ts'
import { firstHiddenFile } from './command-visibility.ts'
import { knownSystemMounts } from './system-mounts.ts'
import { toolchainDirectories, type ToolchainSearch } from './toolchains.ts'
import { homeDirectory } from '../../options/home-directory.ts'

/** The part of a request that decides which tools a command sees. */
export interface ToolRequest {
  /** The program that was asked for. */
  readonly command: string
  readonly cwd: string
  readonly rootDir: string
  readonly policy: IsolationPolicy
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the directories of the user's tools that a command needs: none for one that only reads and finds its program
 * without them, else those of PATH, and the one that a link to the program leads to.
 *
 * @param system What a command sees of the system besides its root and what the policy names.
 * @throws SandboxError `TOOL_SPAWN_FAILED` when the program would not be visible
 */
export function visibleTools(
  { command, cwd, rootDir, policy, env }: ToolRequest,
  system: readonly string[],
): readonly string[] {
  const always = [...system, ...policy.read, rootDir]
  const { programs, etc } = knownSystemMounts('none')
  // This process's PATH, not the command's: the environment of a command must not choose what it may read.
  const search = {
    path: process.env['PATH'] ?? '',
    home: homeDirectory(),
    rootDir,
    visible: [...programs.visible, ...etc.directories, rootDir],
  }
  const path = env['PATH'] ?? '/bin:/usr/bin'
  const choices = [
    ...(policy.access === 'read' ? [() => []] : []),
    () => knownDirectories(search),
    () => knownDirectories({ ...search, command }),
  ]
  for (const choose of choices) {
    const tools = choose()
    if (firstHiddenFile({ command, cwd, path, visible: [...always, ...tools] }) === null) {
      return tools
    }
  }
  throw new SandboxError(
    'TOOL_SPAWN_FAILED',
    `"${command}" exists, but outside of what commands may read: it lies in, or is a link into, a directory that is not ` +
      'shown to them. Name the directory of its installation in files.read.',
    { details: { command, option: 'files.read' }, effect: 'none' },
  )
}

const known = new Map<string, readonly string[]>()

/** A search looks into every directory of PATH; its result changes when tools are installed, not between commands. */
function knownDirectories(search: ToolchainSearch): readonly string[] {
  const key = `${search.path}\0${search.rootDir}\0${search.command ?? ''}`
  const directories = known.get(key) ?? toolchainDirectories(search)
  if (known.size >= maxKnown) known.clear()
  known.set(key, directories)
  return directories
}

const maxKnown = 256
