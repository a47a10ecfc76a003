import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

/** The options of the program as given. */
export interface ServerFlags {
  readonly root: string
  readonly readOnly?: true
  readonly tools?: readonly string[]
  readonly ask?: readonly string[]
  readonly approveWith: 'client' | 'log'
  readonly allowNetwork?: true
  readonly isolation: 'auto' | 'require' | 'none'
  readonly maxOutputBytes?: number
  readonly toolTimeoutMs?: number
  readonly deny: readonly string[]
  readonly log?: string
  readonly run?: string
  readonly repeatWindow?: number
  readonly resources: boolean
  readonly stateKeyFile?: string
  readonly http?: number
  readonly host?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly verify?: string
  readonly publicUrl?: string
  readonly maxSessions?: number
  readonly allowHost: readonly string[]
  readonly allowOrigin: readonly string[]
}

/** Reads the command line. @throws CommanderError, after printing, for the help and for wrong usage */
export function serverCommand(version: string, name = 'mcp-server'): Command {
  return new Command(name)
    .description('Serves confined, journaled tools for files and commands to any MCP client.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .allowExcessArguments(false)
    .requiredOption('--root <dir>', 'the directory that the tools work in; no client can change it')
    .option('--read-only', 'serve only tools without side effect')
    .option(
      '--tools <names>',
      'the tools to serve, comma-separated (default: all seven)',
      listOfNames,
    )
    .option('--ask <names>', 'tools whose calls a person approves, comma-separated', listOfNames)
    .addOption(
      new Option(
        '--approve-with <who>',
        'ask through the client, or wait for a decision in the log',
      )
        .choices(['client', 'log'])
        .default('client'),
    )
    .option('--allow-network', 'let commands reach every host (default: none)')
    .addOption(
      new Option('--isolation <mode>', 'what the operating system must enforce for commands')
        .choices(['auto', 'require', 'none'])
        .default('auto'),
    )
    .option('--max-output-bytes <n>', 'maximum bytes of a file read and of an output', wholeNumber)
    .option('--tool-timeout-ms <n>', 'time limit of one command or search', wholeNumber)
    .addOption(repeatable('--deny <glob>', 'files that no tool may read or write; repeatable'))
    .option(
      '--log <file|url>',
      'a SQLite file outside the root, or postgres://… (default: in memory)',
    )
    .option('--run <id>', 'the run that the calls belong to (default: mcp- and a random id)')
    .option(
      '--repeat-window <seconds>',
      'an equal call within this time, whose answer was not delivered, is the same call',
      wholeNumber,
    )
    .option('--no-resources', 'do not serve the log of the run as resources')
    .option('--state-key-file <file>', 'the key that processes serving one address share')
    .option('--http <port>', 'serve over HTTP instead of stdio', port)
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--token <token>', 'the token that clients send; other users may see it with ps')
    .option('--token-file <file>', 'the file that holds the token')
    .option('--verify <module>', 'a module that exports verifyAccessToken and oauthMetadata')
    .option('--public-url <url>', 'the address that access tokens name, with --verify')
    .addOption(repeatable('--allow-host <name>', 'a name that clients call it by; repeatable'))
    .addOption(repeatable('--allow-origin <name>', 'a web page that may call; repeatable'))
    .option('--max-sessions <n>', 'sessions of clients of 2025-11-25 at once; 0 for none', count)
}

/** True for an error that commander has reported already. */
export function isReported(error: unknown): error is CommanderError {
  return error instanceof CommanderError
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, earlier: readonly string[]) => [...earlier, value])
    .default([], 'none')
}

function listOfNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('A name is empty.')
  return names
}

function wholeNumber(value: string): number {
  const number = count(value)
  if (number < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return number
}

function count(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError('It must be a whole number.')
}

function port(value: string): number {
  const number = Number(value)
  if (!/^\d+$/.test(value) || number > 65_535) {
    throw new InvalidArgumentError('It must be a port, from 0 to 65535.')
  }
  return number
}
