import { basename, type CommandCheck, type CommandRefusal } from './command-policy.ts'
import { checkBasicPolicy } from './basic-policy.ts'
import { checkGitCommand } from './git-command.ts'
import { readInnerCommand } from './inner-command.ts'
import { networkArgument } from './network-argument.ts'
import { readShellScript } from './shell-script.ts'

/** Programs that use the network, with their usual alternative names. */
const networkExecutables = new Set(
  [
    ['curl', 'wget', 'aria2c', 'http', 'https', 'xh', 'lynx', 'links', 'w3m'],
    ['ssh', 'scp', 'sftp', 'ftp', 'tftp', 'telnet', 'rsync', 'mosh', 'autossh', 'sshfs'],
    ['nc', 'netcat', 'ncat', 'socat', 'ping', 'ping6', 'traceroute', 'tracepath', 'mtr'],
    ['dig', 'nslookup', 'host', 'whois', 'nmap', 'openssl', 'tcpdump'],
    ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'corepack', 'bun', 'bunx', 'deno'],
    ['pip', 'pip3', 'pipx', 'uv', 'uvx', 'poetry', 'conda', 'gem', 'bundle', 'composer'],
    ['apt', 'apt-get', 'aptitude', 'brew', 'dnf', 'yum', 'apk', 'pacman', 'snap', 'flatpak'],
    ['cargo', 'rustup', 'go', 'mvn', 'gradle', 'docker', 'podman', 'kubectl', 'gh', 'glab'],
    ['hg', 'svn', 'powershell', 'pwsh'],
  ].flat(),
)

/** Levels of nesting to follow, such as `sh -c` in `env` in `sh -c`. Real command lines have two. */
const maxDepth = 8

/**
 * The strict check: a long list of executables, and schemes, addresses and proxies in any argument. Reads through `env`,
 * `timeout`, `xargs` and the like, and parses `sh -c` scripts with a shell parser.
 *
 * *Guarantees*: refuses what it cannot read, such as a command from a variable, a syntax error, or a script on standard
 * input.
 * *Does not protect against* programs that connect by themselves, such as an interpreter with a script file: that is the
 * task of isolation.
 */
export const checkStrictPolicy: CommandCheck = (argv) => checkCommand(argv, 0)

function checkCommand(argv: readonly [string, ...string[]], depth: number): CommandRefusal | null {
  if (depth > maxDepth) return unreadable(argv[0], 'commands are nested too deeply')
  const [command, ...args] = argv
  const executable = basename(command).toLowerCase()
  if (networkExecutables.has(executable)) {
    return {
      code: 'TOOL_NETWORK_DISABLED',
      rule: 'executable',
      token: command,
      reason: `"${executable}" reaches the network`,
    }
  }
  const basic = checkBasicPolicy(argv)
  if (basic !== null) return basic
  if (executable === 'git') {
    const refusal = checkGitCommand(args)
    if (refusal !== null) return refusal
  }
  for (const argument of args) {
    const reason = networkArgument(argument)
    if (reason !== null) {
      return { code: 'TOOL_NETWORK_DISABLED', rule: 'argument', token: argument, reason }
    }
  }
  for (const inner of readInnerCommand(executable, args)) {
    const refusal =
      inner.kind === 'command'
        ? checkCommand(inner.argv, depth + 1)
        : inner.kind === 'script'
          ? checkScript(inner.source, depth + 1)
          : unreadable(command, inner.why)
    if (refusal !== null) return refusal
  }
  return null
}

function checkScript(source: string, depth: number): CommandRefusal | null {
  for (const found of readShellScript(source)) {
    const refusal =
      found.kind === 'command'
        ? checkCommand(found.argv, depth)
        : unreadable(found.token, found.why)
    if (refusal !== null) return refusal
  }
  return null
}

function unreadable(token: string, why: string): CommandRefusal {
  return {
    code: 'TOOL_NETWORK_DISABLED',
    rule: 'unreadable',
    token,
    reason: `the strict policy cannot tell what "${token}" would run (${why})`,
  }
}
