#!/usr/bin/env -S node --conditions=@smithers/source --disable-warning=ExperimentalWarning
import packageJson from '../package.json' with { type: 'json' }
import { runProgram } from './program.ts'
import { createTerminal } from './terminal/terminal.ts'

const interruption = new AbortController()
const signals = ['SIGINT', 'SIGTERM'] as const
for (const signal of signals) {
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

process.exitCode = await runProgram(process.argv.slice(2), {
  version: packageJson.version,
  terminal: createTerminal(process),
  env: process.env,
  interrupted: interruption.signal,
})
if (interruption.signal.aborted) {
  // Handles that a workflow left open must not keep an interrupted program alive.
  setTimeout(() => process.exit(), 500).unref()
}
