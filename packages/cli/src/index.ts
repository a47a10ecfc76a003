export { jsonOutput } from './documents/json-output.ts'
export { createProgram, runProgram } from './program.ts'
export type { ProgramOptions } from './program.ts'
export { runProcess } from './run-process.ts'
export { createTerminal } from './terminal/terminal.ts'
export type {
  Colors,
  ProgramSurroundings,
  Terminal,
  TerminalOptions,
  TerminalStream,
} from './terminal/terminal.ts'
export { exitCodes } from './errors/command-failure.ts'
export type { ExitCode } from './errors/command-failure.ts'
