import type { Command } from 'commander'
import { badInput } from '../errors/command-failure.ts'
import { errorCodes, errorEntry } from '../errors/error-codes.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Adds `smithers explain`: says what an error code means. */
export function addExplainCommand(program: Command, terminal: Terminal): void {
  program
    .command('explain')
    .summary('say what an error code means')
    .description('Says what an error code means and what to do. Without a code, lists them all.')
    .argument('[code]', 'for example TOOL_PATCH_FAILED')
    .option('--json', 'print JSON Lines, one code per line')
    .action((code: string | undefined, options: { readonly json?: true }) => {
      const wanted = code?.toUpperCase()
      if (wanted !== undefined && errorEntry(wanted) === undefined) {
        throw badInput(`Unknown code ${JSON.stringify(code)}. "smithers explain" lists the codes.`)
      }
      for (const [name, { meaning, advice }] of Object.entries(errorCodes)) {
        if (wanted !== undefined && wanted !== name) continue
        if (options.json) terminal.json({ type: 'error-code', code: name, meaning, advice })
        else if (wanted === undefined) terminal.line(`${name.padEnd(28)}${meaning}`)
        else terminal.line(`${terminal.colors.bold(name)}\n${meaning}\n${advice}`)
      }
    })
}
