/** Why a command is refused before it runs. */
export interface CommandRefusal {
  readonly code: 'TOOL_NETWORK_DISABLED' | 'TOOL_GIT_REMOTE_DISABLED'
  /** The rule, for programs: `executable`, `url`, `git-remote`, … */
  readonly rule: string
  /** The argument that the rule matched. */
  readonly token: string
  /** One sentence: what was refused and why. */
  readonly reason: string
}

/** Decides on argv, never on a joined string. `null` allows the command. */
export type CommandCheck = (argv: readonly [string, ...string[]]) => CommandRefusal | null

/** The last component of a command's path, without the extension that Windows adds. */
export function basename(command: string): string {
  const name = command.slice(command.lastIndexOf('/') + 1)
  return process.platform === 'win32'
    ? name
        .slice(name.lastIndexOf('\\') + 1)
        .toLowerCase()
        .replace(/\.(exe|cmd|bat|com)$/, '')
    : name
}
