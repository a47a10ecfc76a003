import { printableLine } from '../text/printable.ts'
import { version } from '../version.ts'
import { isReported, serverCommand, type ServerFlags } from './server-command.ts'

const done = 0
const failed = 1
const wrongUsage = 2

/**
 * Runs the program `mcp-server` with a command line, without its name, until its client leaves or the process gets SIGTERM
 * or SIGINT. Returns the exit code: 0, 1 for a failure, 2 for wrong usage, which ends it before it serves.
 *
 * @param name What its help and its errors call it, where it is a command of another program. @default 'mcp-server'
 */
export function runMcpServer(args: readonly string[], name?: string): Promise<number> {
  return runProgram(args, () => {}, name)
}

/**
 * {@link runMcpServer} in a process of its own.
 *
 * @param prepare Called with the root as given, before most of the program is loaded
 */
export async function runProgram(
  args: readonly string[],
  prepare: (rootDir: string) => void,
  name = 'mcp-server',
): Promise<number> {
  const ending = new AbortController()
  const stop = (): void => ending.abort()
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  try {
    const flags = serverCommand(version, name)
      .parse([...args], { from: 'user' })
      .opts<ServerFlags>()
    // The list of processes shows every user the command line.
    if (flags.token !== undefined) process.title = 'mcp-server'
    prepare(flags.root)
    const { serveFlags } = await import('./serve-flags.ts')
    await serveFlags(flags, ending.signal)
    return done
  } catch (error) {
    if (isReported(error)) return error.exitCode === 0 ? done : wrongUsage
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${name}: ${printableLine(message)}\n`)
    return (error as { readonly code?: unknown }).code === 'INVALID_INPUT' ? wrongUsage : failed
  } finally {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
  }
}
