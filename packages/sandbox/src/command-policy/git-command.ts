import type { CommandRefusal } from './command-policy.ts'

/** Subcommands that contact another repository. `remote` is blocked as a whole, though only parts of it do. */
const remoteSubcommands = new Set([
  'push',
  'pull',
  'fetch',
  'clone',
  'remote',
  'ls-remote',
  'fetch-pack',
  'send-pack',
  'http-fetch',
  'http-push',
  'remote-http',
  'remote-https',
  'remote-ftp',
  'remote-ftps',
  'remote-ext',
  'daemon',
  'imap-send',
  'send-email',
  'request-pull',
  'svn',
  'p4',
  'cvsimport',
])

/** git ignores aliases with the names of its own subcommands. */
const ownSubcommands = new Set([...remoteSubcommands, 'submodule', 'archive'])

/** Global options whose value is the next argument. */
const optionsWithValue = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--attr-source',
])

/**
 * Refuses a git command that contacts another repository. `args` are the arguments of `git`.
 *
 * The *subcommand* decides, found after git's global options, so that `git log --grep=fetch`, `git commit -m "push it"`
 * and `git stash push` pass.
 */
export function checkGitCommand(args: readonly string[]): CommandRefusal | null {
  const { subcommand, rest, settings } = readGitCommand(args)
  if (subcommand === undefined) return null
  let [name, ...parameters] = [subcommand, ...rest]
  // An alias may expand to another one. git itself refuses circular aliases.
  for (let steps = 0; steps <= settings.length && !ownSubcommands.has(name); steps += 1) {
    const alias = settings.findLast(({ key }) => key === `alias.${name.toLowerCase()}`)
    if (alias === undefined) break
    if (alias.value.trim().startsWith('!')) {
      return refuse(name, `the alias "${name}" runs a shell command`)
    }
    const [first = '', ...others] = words(alias.value)
    parameters = [...others, ...parameters]
    name = first
  }
  if (remoteSubcommands.has(name)) {
    return refuse(name, `"git ${name}" talks to another repository`)
  }
  if (name === 'submodule' && parameters.some((word) => word === 'update' || word === 'add')) {
    return refuse(name, '"git submodule" fetches from other repositories')
  }
  if (name === 'subtree' && parameters.some((word) => word === 'push' || word === 'pull')) {
    return refuse(name, '"git subtree" talks to another repository')
  }
  if (name === 'archive' && parameters.some((word) => /^--rem(o(te?)?)?(=|$)/.test(word))) {
    return refuse(name, '"git archive --remote" talks to another repository')
  }
  return null
}

/** Options of the subcommands below whose value is the next argument. */
const repositoryOptions = new Set(
  [
    ['-b', '--branch', '-o', '--origin', '--push-option', '-c', '--config', '--depth', '--deepen'],
    ['-j', '--jobs', '--reference', '--reference-if-able', '--separate-git-dir', '--template'],
    ['--filter', '--shallow-since', '--shallow-exclude', '--refmap', '--negotiation-tip'],
    ['-s', '--strategy', '-X', '--strategy-option', '--revision'],
  ].flat(),
)

/** Subcommands whose first operand is a repository. */
const repositorySubcommands = new Set(['clone', 'fetch', 'pull', 'push', 'ls-remote'])

/** Options that name a second repository, or a program to run. */
const furtherRepository =
  /^(?:-u|--upload-pack|--receive-pack|--exec|--bundle-uri|--server-option|--all|--multiple|--recurse-submodules|--recursive|--repo)(?:=|$)/u

/**
 * Whether a git command uses no other repository, or one that its arguments name by a path of this machine. False for
 * what is not certain, such as a remote's name, which can mean a path or a host.
 */
export function staysOnThisMachine(args: readonly string[]): boolean {
  const { subcommand, rest, settings } = readGitCommand(args)
  if (settings.some(({ key }) => key.startsWith('alias.') || key.startsWith('url.'))) return false
  if (subcommand === 'remote') return isLocalRemoteCommand(rest)
  if (subcommand === undefined || !repositorySubcommands.has(subcommand)) return false
  if (rest.some((arg) => furtherRepository.test(arg))) return false
  const repository = rest.find(
    (arg, index) => !arg.startsWith('-') && !repositoryOptions.has(rest[index - 1] ?? ''),
  )
  return repository !== undefined && /^(?:\.{0,2}\/|\.{1,2}$|file:\/\/)/u.test(repository)
}

/** Parts of `git remote` that only read or change the configuration. */
function isLocalRemoteCommand(rest: readonly string[]): boolean {
  const action = rest.find((arg) => !arg.startsWith('-'))
  if (action === undefined || /^(?:get-url|set-url|rename|remove|rm|set-branches)$/u.test(action)) {
    return true
  }
  return action === 'add' && !rest.some((arg) => /^(?:-[a-z]*f[a-z]*|--fetch)$/u.test(arg))
}

interface GitCommand {
  readonly subcommand: string | undefined
  readonly rest: readonly string[]
  /** From `-c key=value`; keys in lower case. */
  readonly settings: readonly { readonly key: string; readonly value: string }[]
}

function readGitCommand(args: readonly string[]): GitCommand {
  const settings: { key: string; value: string }[] = []
  let index = 0
  for (; index < args.length; index += 1) {
    const option = args[index]!
    if (!option.startsWith('-')) break
    if (option === '-c') {
      const setting = args[index + 1] ?? ''
      const equals = setting.indexOf('=')
      const key = equals < 0 ? setting : setting.slice(0, equals)
      settings.push({ key: key.toLowerCase(), value: equals < 0 ? '' : setting.slice(equals + 1) })
    }
    if (optionsWithValue.has(option)) index += 1
  }
  return { subcommand: args[index], rest: args.slice(index + 1), settings }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function refuse(token: string, reason: string): CommandRefusal {
  return { code: 'TOOL_GIT_REMOTE_DISABLED', rule: 'git-remote', token, reason }
}
