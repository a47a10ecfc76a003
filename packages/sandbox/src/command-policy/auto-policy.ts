import { checkBasicPolicy } from './basic-policy.ts'
import { basename, type CommandCheck, type CommandRefusal } from './command-policy.ts'
import { checkGitCommand, staysOnThisMachine } from './git-command.ts'
import { asksNoServer, isLocalRequest } from './local-request.ts'

/** Subcommands of package managers whose work is a download or an upload. */
const networkSubcommands: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'npm',
    new Set(
      [
        ['install', 'i', 'in', 'ins', 'inst', 'isntall', 'add', 'ci', 'clean-install', 'ic'],
        ['install-test', 'it', 'install-ci-test', 'cit', 'update', 'up', 'upgrade', 'udpate'],
        ['publish', 'unpublish', 'deprecate', 'dist-tag', 'owner', 'access', 'team', 'org'],
        ['login', 'adduser', 'add-user', 'logout', 'whoami', 'profile', 'token', 'ping'],
        ['audit', 'outdated', 'search', 's', 'se', 'find', 'view', 'info', 'show', 'v', 'star'],
        ['init', 'create', 'doctor', 'hook', 'docs', 'home', 'repo', 'bugs', 'issues'],
      ].flat(),
    ),
  ],
  [
    'bun',
    new Set(
      [
        ['install', 'i', 'add', 'a', 'update', 'upgrade', 'publish', 'outdated', 'audit'],
        ['x', 'create', 'c', 'init', 'info'],
      ].flat(),
    ),
  ],
  ['pip', new Set(['install', 'download', 'wheel', 'search', 'index'])],
])

/**
 * The default check where the operating system keeps commands off the network: refuses only what has no other purpose
 * than the network, before it starts and waits for a connection. Tests, scripts, lists and URLs in arguments pass.
 *
 * *Guarantees*: a clear error for downloads, uploads and remote git.
 * *Does not protect against* anything by itself: that is the task of isolation, without which the basic check applies.
 */
export const checkAutoPolicy: CommandCheck = (argv) => {
  const [command, ...args] = argv
  const executable = basename(command)
  if (executable === 'git') return staysOnThisMachine(args) ? null : checkGitCommand(args)
  const subcommands = networkSubcommands.get(executable)
  if (subcommands !== undefined) return checkPackageManager(command, args, subcommands)
  if (asksNoServer(executable, args)) return null
  // The basic check also refuses URLs, which reach nothing here.
  return checkBasicPolicy([command])
}

/**
 * {@link checkAutoPolicy} for the commands of a script. There a server may have been started before, so a request to this
 * machine passes; a program alone has a network of its own in which nothing listens.
 */
export const checkAutoInScript: CommandCheck = (argv) => {
  const [command, ...args] = argv
  return isLocalRequest(basename(command), args) ? null : checkAutoPolicy(argv)
}

function checkPackageManager(
  command: string,
  args: readonly string[],
  subcommands: ReadonlySet<string>,
): CommandRefusal | null {
  const subcommand = args.find((arg) => !arg.startsWith('-'))
  const isOffline = args.some((arg) => /^--(?:offline|no-index)(?:=true)?$/u.test(arg))
  if (subcommand === undefined || isOffline || !subcommands.has(subcommand)) return null
  return {
    code: 'TOOL_NETWORK_DISABLED',
    rule: 'executable',
    token: `${command} ${subcommand}`,
    reason: `"${basename(command)} ${subcommand}" reaches the network`,
  }
}
