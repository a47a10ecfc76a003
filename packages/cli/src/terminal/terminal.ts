import type { Writable } from 'node:stream'
import pc from 'picocolors'

/** The functions that colour text; without colour they return it as it is. */
export type Colors = ReturnType<typeof pc.createColors>

/** Where a command prints. */
export interface Terminal {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  readonly colors: Colors
  /** One line of text on stdout. */
  readonly line: (text?: string) => void
  /** Prints one JSON document per line on stdout, for `--json`. */
  readonly json: (document: unknown) => void
  /** Prints a remark on stderr, so that it never mixes with the output. */
  readonly note: (text: string) => void
}

/** What a command needs from its process. */
export interface ProgramSurroundings {
  /** Where it prints, from `createTerminal`. */
  readonly terminal: Terminal
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted on Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal
}

/** What a terminal needs of a stream; `process.stdout` is one. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** The streams and the environment to print with. */
export interface TerminalOptions {
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A terminal on the given streams, with colours where they are supported and wanted. */
export function createTerminal({ stdout, stderr, env }: TerminalOptions): Terminal {
  return Object.freeze<Terminal>({
    stdout,
    stderr,
    colors: pc.createColors(wantsColor(stdout, env)),
    line: (text = '') => void stdout.write(`${text}\n`),
    json: (document) => void stdout.write(`${JSON.stringify(document)}\n`),
    note: (text) => void stderr.write(`${text}\n`),
  })
}

// https://no-color.org: set and not empty, whatever the value. FORCE_COLOR is for piping into a pager.
function wantsColor(stream: TerminalStream, env: TerminalOptions['env']): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
