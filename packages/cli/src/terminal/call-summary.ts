/**
 * The arguments of a call in a few words: the command line, the pattern and its path, the path, or the JSON. They are
 * printed as logged, so redacted values stay redacted.
 */
export function summarizeCall(toolName: string, input: unknown): string {
  const fields = isRecord(input) ? input : {}
  const { path, cmd, pattern } = fields
  if (toolName === 'bash' && typeof cmd === 'string') return commandLine(cmd, fields)
  if (toolName === 'grep' && typeof pattern === 'string') {
    return `${quoted(pattern)} in ${typeof path === 'string' ? path : '.'}`
  }
  if (typeof path === 'string') return `${path}${lineRange(fields)}`
  return input === undefined ? '' : (JSON.stringify(input) ?? '')
}

function commandLine(cmd: string, { args, opts }: Record<string, unknown>): string {
  const argv = [cmd, ...(Array.isArray(args) ? args.map(String) : [])]
  const cwd = isRecord(opts) && typeof opts['cwd'] === 'string' ? ` (in ${opts['cwd']})` : ''
  return argv.map(quoted).join(' ') + cwd
}

/** Quoted as in a shell, for display only. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument)
    ? argument
    : `'${argument.replaceAll("'", String.raw`'\''`)}'`
}

function lineRange({ offset, limit }: Record<string, unknown>): string {
  if (typeof offset !== 'number' && typeof limit !== 'number') return ''
  const first = typeof offset === 'number' ? offset : 1
  return typeof limit === 'number' ? `:${first}-${first + limit - 1}` : `:${first}-`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
