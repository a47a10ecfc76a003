import { basename, type CommandCheck, type CommandRefusal } from './command-policy.ts'
import { checkGitCommand } from './git-command.ts'

/** S0's list. */
const networkExecutables = new Set(['curl', 'wget', 'npm', 'bun', 'pip'])

/**
 * The check that the documentation of the tools promises (S0 §bash): five executables by basename, any argument that
 * begins with `http://` or `https://`, and git's subcommands that reach out.
 *
 * *Guarantees*: a clear error for the commands that the documents name.
 * *Does not protect against* a command that reaches out under another name: that is the work of isolation.
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
