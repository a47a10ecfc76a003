import type { Command, Option } from 'commander'

/** What commander does with an option that a command lacks: it names it, with the one that may be meant. */
interface NamesUnknownOptions {
  unknownOption(flag: string): never
}

/** Commands whose operands are the command line of another program. */
const passingThrough: ReadonlySet<string> = new Set(['exec'])

/**
 * Refuses the first unknown option of a command line, before anything else is said about it: a mistyped `--root` is the
 * cause of the complaint that `--root` is missing.
 *
 * @throws CommanderError
 */
export function refuseUnknownOptions(program: Command, args: readonly string[]): void {
  let command = program
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? ''
    if (argument === '--') return
    if (!argument.startsWith('-') || argument === '-' || /^-\d/.test(argument)) {
      const child = command.commands.find((each) => namesOf(each).includes(argument))
      // What follows the name of another command is an operand.
      if (child !== undefined && command.registeredArguments.length === 0) command = child
      // Commander names the command that may be meant. What follows it belongs to that one.
      else if (command.commands.length > 0) return
      else if (passingThrough.has(command.name())) return
      continue
    }
    const [flag = ''] = argument.split('=', 1)
    const option = known(command, flag) ?? known(program, flag)
    if (option === 'help') return
    if (option === undefined) {
      const naming = command as unknown as NamesUnknownOptions
      naming.unknownOption(flag)
    } else if (option.required && !argument.includes('=')) index += 1
  }
}

function namesOf(command: Command): string[] {
  return [command.name(), ...command.aliases()]
}

function known(command: Command, flag: string): Option | 'help' | undefined {
  if (flag === '--help' || flag === '-h') return 'help'
  // `-abc` is several short options, and `-n5` one with its value: commander reads those.
  return command.options.find((option) =>
    flag.startsWith('--') ? option.long === flag : option.short === flag.slice(0, 2),
  )
}
