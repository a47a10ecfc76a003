import type { Command } from 'commander'
import { type ProgramOptions, runProgram } from './program.ts'
import { createTerminal } from './terminal/terminal.ts'

/** Runs the command line of this process and sets its exit code. Ctrl-C and SIGTERM stop a command cleanly. */
export async function runProcess(
  version: string,
  create: (options: ProgramOptions) => Command,
): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interruption.abort(new Error(`Stopped by ${signal}.`))
      // A second signal ends the process at once, which is the default.
    })
  }
  // `smithers calls | head` closes the pipe early, which is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
  const options: ProgramOptions = {
    version,
    terminal: createTerminal(process),
    env: process.env,
    interrupted: interruption.signal,
  }
  process.exitCode = await runProgram(create(options), process.argv.slice(2), options)
  if (interruption.signal.aborted) {
    // Handles that a command left open must not keep an interrupted program alive.
    setTimeout(() => process.exit(), 500).unref()
  }
}
