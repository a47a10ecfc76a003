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
    .action(async (code: string | undefined, options: { readonly json?: true }) => {
      const wanted = code?.toUpperCase()
      if (wanted !== undefined && errorEntry(wanted) === undefined) {
        const near = await nearestCode(wanted)
        const advice = near === undefined ? '' : ` Did you mean ${near}?`
        throw badInput(
          `Unknown code ${JSON.stringify(code)}.${advice} "smithers explain" lists the codes.`,
        )
      }
      for (const [name, { meaning, advice }] of Object.entries(errorCodes)) {
        if (wanted !== undefined && wanted !== name) continue
        if (options.json) terminal.json({ type: 'error-code', code: name, meaning, advice })
        else if (wanted === undefined) terminal.line(`${name.padEnd(28)}${meaning}`)
        else terminal.line(`${terminal.colors.bold(name)}\n${meaning}\n${advice}`)
      }
    })
}

/** The code that a mistyped one means: a part of it alone, such as PATCH_FAILED, or the same but for some characters. */
async function nearestCode(wanted: string): Promise<string | undefined> {
  const names = Object.keys(errorCodes)
  const having = names.filter((name) => name.endsWith(`_${wanted}`))
  if (having.length > 0) return having[0]
  const { editDistance } = await import('@smithers/sandbox/options')
  const [nearest] = names
    .map((name) => ({ name, far: editDistance(wanted.slice(0, 100), name) }))
    .filter(({ name, far }) => far <= name.length / 3)
    .toSorted((one, other) => one.far - other.far)
  return nearest?.name
}
