import { createProgram, type ProgramOptions } from '@smithers/cli'
import type { Command } from 'commander'
import { addDemoCommand } from './commands/demo-command.ts'
import { addResumeCommand } from './commands/resume-command.ts'
import { addRunCommand } from './commands/run-command.ts'
import { addUpCommand } from './commands/up-command.ts'
import { letWorkersReadTsx } from './commands/tsx-workers.ts'

/** The commands of `@smithers/cli`, and those that run agents and workflows. */
export function createAppProgram(options: ProgramOptions): Command {
  const { terminal, env, interrupted } = options
  const program = createProgram(options)
    .description('An agent that works in one folder, with confined tools and a log of every call.')
    .addHelpText(
      'after',
      `
Examples with a model, or without:
  smithers demo
  smithers run "Fix the failing test" --root . --model anthropic/MODEL

Environment of run: SMITHERS_MODEL, and the providers' keys.`,
    )
  addRunCommand(program, { terminal, env, interrupted })
  addUpCommand(program, { terminal, interrupted })
  addResumeCommand(program, { terminal, interrupted })
  addDemoCommand(program, { terminal, interrupted })
  letWorkersReadTsx(program)
  return program
}
