import { homedir } from 'node:os'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { firstHiddenFile } from '../bubblewrap/command-visibility.ts'
import { knownSystemMounts } from '../bubblewrap/system-mounts.ts'
import { toolchainDirectories } from '../bubblewrap/toolchains.ts'
import type { StartRequest } from '../running-command.ts'

/**
 * Returns the directories of the user's tools that a command needs: none for one that only reads and finds its program
 * without them, else those of PATH, and the one that a link to the program leads to.
 *
 * @throws SandboxError `TOOL_SPAWN_FAILED` when the program would not be visible
 */
export function visibleTools({ argv, cwd, env, policy, rootDir }: StartRequest): readonly string[] {
  const { programs, etc } = knownSystemMounts(policy.network)
  const [command] = argv
  const places = [...programs.visible, ...etc.directories, ...policy.read, rootDir]
  // This process's PATH, not the command's: the environment of a command must not choose what it may read.
  const search = {
    path: process.env['PATH'] ?? '',
    home: homedir(),
    rootDir,
    visible: [...programs.visible, ...etc.directories, rootDir],
  }
  const views = [
    ...(policy.access === 'read' ? [() => []] : []),
    () => known(search),
    () => known({ ...search, command }),
  ]
  for (const view of views) {
    const tools = view()
    const path = env['PATH'] ?? '/bin:/usr/bin'
    if (firstHiddenFile({ command, cwd, path, visible: [...places, ...tools] }) === null)
      return tools
  }
  throw new SandboxError(
    'TOOL_SPAWN_FAILED',
    `"${command}" exists, but outside of what commands may read: it lies in, or is a link into, a directory that is not ` +
      'shown to them. Name the directory of its installation in files.read.',
    { details: { command, option: 'files.read' }, effect: 'none' },
  )
}

type Search = Parameters<typeof toolchainDirectories>[0]

const found = new Map<string, readonly string[]>()

/** A search looks into every directory of PATH; its result changes when tools are installed, not between commands. */
function known(search: Search): readonly string[] {
  const key = `${search.path}\0${search.rootDir}\0${search.command ?? ''}`
  const directories = found.get(key) ?? toolchainDirectories(search)
  if (found.size >= maxKnown) found.clear()
  found.set(key, directories)
  return directories
}

const maxKnown = 256
