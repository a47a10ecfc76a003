import { Command, CommanderError } from 'commander'
import { addApprovalCommands } from './commands/approval-commands.ts'
import { addCallsCommand } from './commands/calls-command.ts'
import { addDoctorCommand } from './commands/doctor-command.ts'
import { addMcpCommand } from './commands/mcp-command.ts'
import { addDatabaseCommand } from './commands/database-command.ts'
import { addExecCommand } from './commands/exec-command.ts'
import { addExplainCommand } from './commands/explain-command.ts'
import { refuseUnknownOptions } from './commands/unknown-options.ts'
import tab from '@bomb.sh/tab/commander'
import { addPruneCommand } from './commands/prune-command.ts'
import { addRunsCommand } from './commands/runs-command.ts'
import { addShowCommand } from './commands/show-command.ts'
import { addViewCommand } from './commands/view-command.ts'
import { addWhyCommand } from './commands/why-command.ts'
import { addWorkerCommand } from './commands/worker-command.ts'
import { CommandExit, CommandFailure, exitCodes } from './errors/command-failure.ts'
import { describeError } from './errors/describe-error.ts'
import { showWaiting } from './terminal/wait-indicator.ts'
import { printable } from './terminal/printable.ts'
import type { ProgramSurroundings } from './terminal/terminal.ts'

/** What the program needs from its process. */
export interface ProgramOptions extends ProgramSurroundings {
  /** Printed by `--version`. */
  readonly version: string
}

/**
 * The program `smithers` with every command of this package. Add commands of your own with `program.command(…)`, and
 * run it with {@link runProgram}.
 */
export function createProgram(options: ProgramOptions): Command {
  const { version, terminal } = options
  const program = new Command('smithers')
    .description('See what tools did and decide what they may do: calls, runs, approvals, sandbox.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .enablePositionalOptions()
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
  smithers doctor
  smithers calls
  smithers show 4

Exit codes: ${exitCodes.ok} done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage or bad input (nothing was changed), ${exitCodes.waiting} a call waits for approval, ${exitCodes.interrupted} interrupted.
Environment: NO_COLOR, FORCE_COLOR, SMITHERS_LOG, SMITHERS_DEBUG (prints stack traces).`,
    )
  addCallsCommand(program, options)
  addShowCommand(program, terminal)
  addRunsCommand(program, terminal)
  addWhyCommand(program, terminal)
  addViewCommand(program, options)
  addApprovalCommands(program, terminal)
  addPruneCommand(program, terminal)
  addDoctorCommand(program, terminal)
  addWorkerCommand(program, options)
  addMcpCommand(program)
  addExecCommand(program, options)
  addDatabaseCommand(program, terminal)
  addExplainCommand(program, terminal)
  return program
}

/** Runs one command line and returns the exit code of the process, which is one of `exitCodes` except for `exec`. Errors are printed as one line, never thrown. */
export async function runProgram(
  program: Command,
  args: readonly string[],
  { terminal, env, interrupted }: ProgramSurroundings,
): Promise<number> {
  const waiting = showWaiting(terminal, args)
  try {
    // Last, so that it knows every command.
    tab(program, { completionCommandName: 'completion' })
    refuseUnknownOptions(program, args)
    await program.parseAsync(args, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has already printed its message or the help.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    }
    if (error instanceof CommandExit) return error.exitCode
    if (interrupted.aborted) {
      terminal.note('smithers: interrupted')
      return exitCodes.interrupted
    }
    terminal.note(`smithers: ${printable(describeError(error)).replaceAll('\n', ' ')}`)
    if (env['SMITHERS_DEBUG'] && error instanceof Error)
      terminal.note(printable(String(error.stack)))
    return error instanceof CommandFailure ? error.exitCode : exitCodes.failed
  } finally {
    waiting.stop()
  }
}

/** Replaces commander's prefix and puts its suggestion on the line of the error. */
function oneLine(text: string): string {
  return `${text
    .replace(/^error: /, 'smithers: ')
    .trimEnd()
    .replaceAll('\n', ' ')}\n`
}
