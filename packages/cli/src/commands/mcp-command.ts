import type { Command } from 'commander'
import { badInput, CommandExit } from '../errors/command-failure.ts'

/** Adds `smithers mcp`: the program of `@smithers/mcp-server`, where it is installed. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .summary('serve the tools to a client of the Model Context Protocol')
    .description(
      'Serves the tools to a client of the Model Context Protocol: smithers mcp --root . All options are those of mcp-server, of @smithers/mcp-server, which must be installed. "smithers mcp --help" prints them.',
    )
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]', 'options of mcp-server')
    .action(async (options: readonly string[]) => {
      const { runMcpServer } = await serverPackage()
      const exitCode = await runMcpServer(options, 'smithers mcp')
      if (exitCode !== 0) throw new CommandExit(exitCode)
    })
}

async function serverPackage(): Promise<typeof import('@smithers/mcp-server')> {
  try {
    return await import('@smithers/mcp-server')
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw badInput(
      'smithers mcp needs one more package. Install it: npm install @smithers/mcp-server',
      error,
    )
  }
}
