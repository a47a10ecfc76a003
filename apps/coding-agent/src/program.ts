import { Command, CommanderError } from 'commander'
import { CommandFailure, exitCodes } from './command-failure.ts'
import type { ExitCode } from './command-failure.ts'
import { addApprovalCommands } from './commands/approval-commands.ts'
import { addCallsCommand } from './commands/calls-command.ts'
import { addDemoCommand } from './commands/demo-command.ts'
import { addDoctorCommand } from './commands/doctor-command.ts'
import { addPruneCommand } from './commands/prune-command.ts'
import { addResumeCommand } from './commands/resume-command.ts'
import { addRunCommand } from './commands/run-command.ts'
import { addRunsCommand } from './commands/runs-command.ts'
import { addShowCommand } from './commands/show-command.ts'
import { addUpCommand } from './commands/up-command.ts'
import { addWhyCommand } from './commands/why-command.ts'
import { describeError } from './describe-error.ts'
import { printable } from './terminal/printable.ts'
import type { Terminal } from './terminal/terminal.ts'

/** What the program needs from its process. */
export interface ProgramOptions {
  readonly version: string
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted on Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal
}

/** Runs one command line and returns the exit code of the process. */
export async function runProgram(
  args: readonly string[],
  options: ProgramOptions,
): Promise<ExitCode> {
  const { terminal, env, interrupted } = options
  try {
    await createProgram(options).parseAsync(args, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has already printed its message or the help.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    }
    if (interrupted.aborted) {
      terminal.note('smithers: interrupted')
      return exitCodes.interrupted
    }
    terminal.note(`smithers: ${printable(describeError(error)).replaceAll('\n', ' ')}`)
    if (env['SMITHERS_DEBUG'] && error instanceof Error)
      terminal.note(printable(String(error.stack)))
    return error instanceof CommandFailure ? error.exitCode : exitCodes.failed
  }
}

function createProgram({ version, terminal, env, interrupted }: ProgramOptions): Command {
  const program = new Command('smithers')
    .description('An agent that works in one folder, with confined tools and a log of every call.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      outputError: (text, write) => write(oneLine(text)),
    })
    .addHelpText(
      'after',
      `
Examples:
  smithers demo
  smithers run "Fix the failing test" --root . --model anthropic/MODEL
  smithers calls

Exit codes: ${exitCodes.ok} done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage or bad input (nothing was changed), ${exitCodes.waiting} a call waits for approval, ${exitCodes.interrupted} interrupted.
Environment: NO_COLOR, FORCE_COLOR, SMITHERS_LOG, SMITHERS_MODEL, SMITHERS_DEBUG (prints stack traces), and the providers' keys.`,
    )
  addRunCommand(program, { terminal, env, interrupted })
  addUpCommand(program, { terminal, interrupted })
  addResumeCommand(program, { terminal, interrupted })
  addRunsCommand(program, terminal)
  addWhyCommand(program, terminal)
  addPruneCommand(program, terminal)
  addDemoCommand(program, { terminal, interrupted })
  addCallsCommand(program, terminal)
  addShowCommand(program, terminal)
  addApprovalCommands(program, terminal)
  addDoctorCommand(program, terminal)
  return program
}

/** Replaces commander's prefix and puts its suggestion on the line of the error. */
function oneLine(text: string): string {
  return `${text
    .replace(/^error: /, 'smithers: ')
    .trimEnd()
    .replaceAll('\n', ' ')}\n`
}
