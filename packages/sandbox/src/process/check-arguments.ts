import { shownValue } from '../options/read-options.ts'
import { invalidArgument, textProblem } from '../options/argument-text.ts'

const advice = 'Pass the executable and its arguments as plain strings.'

/**
 * Refuses what a caller without types may pass and no process can be given, before anything is started.
 *
 * @throws SandboxError `INVALID_INPUT`, naming the argument
 */
export function checkArguments(command: string, args: readonly string[]): void {
  if (!Array.isArray(args)) {
    throw invalidArgument('args', `is ${shownValue(args)}, not an array`, advice)
  }
  for (const [index, argument] of [command, ...args].entries()) {
    const name = index === 0 ? 'command' : `args[${index - 1}]`
    const problem =
      textProblem(argument) ?? (index === 0 && argument.trim() === '' ? 'is empty' : undefined)
    if (problem !== undefined) throw invalidArgument(name, problem, advice)
  }
}
