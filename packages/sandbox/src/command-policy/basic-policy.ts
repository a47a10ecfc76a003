import { basename, type CommandCheck, type CommandRefusal } from './command-policy.ts'
import { checkGitCommand } from './git-command.ts'

/** Programs whose main purpose is the network. */
const networkExecutables = new Set(['curl', 'wget', 'npm', 'bun', 'pip'])

/**
 * The default check: five executables by basename, any argument that begins with `http://` or `https://`, and the git
 * subcommands that contact another repository.
 *
 * *Guarantees*: a clear error for these commands.
 * *Does not protect against* a command that uses the network under another name: that is the task of isolation.
 */
export const checkBasicPolicy: CommandCheck = (argv) => {
  const [command, ...args] = argv
  const executable = basename(command)
  if (networkExecutables.has(executable)) {
    return refuse('executable', command, `"${executable}" reaches the network`)
  }
  const url = argv.find((token) => /^https?:\/\//i.test(token))
  if (url !== undefined) return refuse('url', url, `the argument "${url}" is a URL`)
  return executable === 'git' ? checkGitCommand(args) : null
}

function refuse(rule: string, token: string, reason: string): CommandRefusal {
  return { code: 'TOOL_NETWORK_DISABLED', rule, token, reason }
}
