import { Option } from 'commander'
import type { Command } from 'commander'
import type { ProgramSurroundings } from '../terminal/terminal.ts'
import { networkOptions, type NetworkFlags } from '../sandbox/network-flags.ts'
import { checkedRoot } from '../sandbox/root-directory.ts'
import { badInput, CommandExit } from '../errors/command-failure.ts'
import { positiveInteger } from './option-values.ts'

interface ExecOptions extends Omit<NetworkFlags, 'askHosts'> {
  readonly root: string
  readonly cwd?: string
  readonly timeoutMs?: number
  readonly json?: true
}

/** Adds `smithers exec`: runs one command in the sandbox. */
export function addExecCommand(program: Command, surroundings: ProgramSurroundings): void {
  program
    .command('exec')
    .summary('run one command in the sandbox')
    .description(
      'Runs one command as the tool bash of an agent would, without a shell, and reports on stderr what was enforced and what the command asked of the network. Exits with the exit code of the command; 126 when a rule refused it, 127 when it could not be started, 124 after the time limit.',
    )
    .usage('[options] -- <command> [arguments...]')
    .argument('<command...>', 'the program and its arguments')
    .passThroughOptions()
    .option('--root <dir>', 'the folder that the command may change', '.')
    .option('--cwd <dir>', 'its working directory, below the root (default: the root)')
    .option('--allow-network', 'let it reach every host (default: none)')
    .addOption(
      new Option(
        '--allow-host <host>',
        'let it reach this host, as "example.com" or "*.example.com:8080"; repeatable',
      )
        .argParser((host: string, earlier: readonly string[]) => [...earlier, host])
        .default([], 'none'),
    )
    .option('--timeout-ms <n>', 'time limit in milliseconds', positiveInteger, 60_000)
    .option('--json', 'print one JSON document with the output and the report')
    .addHelpText(
      'after',
      `
Examples:
  smithers exec -- npm test
  smithers exec --allow-host api.example.com -- node fetch-prices.mjs
  smithers exec --json -- curl https://example.com`,
    )
    .action((command: string[], options: ExecOptions) => exec(command, options, surroundings))
}

async function exec(
  [command = '', ...args]: readonly string[],
  options: ExecOptions,
  { terminal, interrupted }: ProgramSurroundings,
): Promise<void> {
  if (options.timeoutMs !== undefined && options.timeoutMs > 3_600_000) {
    throw badInput('--timeout-ms may be at most 3600000, one hour.')
  }
  const rootDir = checkedRoot(options.root)
  const network = networkOptions(options)
  const [{ runConfined }, { execReport }, { printable }] = await Promise.all([
    import('../sandbox/run-confined.ts'),
    import('../terminal/exec-report.ts'),
    import('../terminal/printable.ts'),
  ])
  const { stdout, stderr } = terminal
  const { result, seesNetwork } = await runConfined({
    command,
    args,
    rootDir,
    network,
    cwd: options.cwd,
    timeoutMs: options.timeoutMs,
    signal: interrupted,
    onOutput: options.json
      ? undefined
      : ({ stream, bytes }) => {
          const to = stream === 'stdout' ? stdout : stderr
          // A file gets the bytes as they are. At a terminal, control sequences of the command could write elsewhere.
          to.write(to.isTTY === true ? printable(Buffer.from(bytes).toString()) : bytes)
        },
  })
  if (options.json) {
    const { error, ...others } = result
    terminal.json({
      type: 'exec',
      command,
      args,
      rootDir,
      seesNetwork,
      ...others,
      error: error === undefined ? null : { code: error.code, message: error.message },
    })
  } else {
    for (const line of execReport(result, seesNetwork, terminal.colors)) terminal.note(line)
  }
  throw new CommandExit(exitCodeOf(result))
}

function exitCodeOf({
  status,
  exitCode,
}: {
  readonly status: string
  readonly exitCode: number | null
}): number {
  if (status === 'exited') return exitCode ?? 1
  return { timeout: 124, refused: 126, 'spawn-error': 127, aborted: 130 }[status] ?? 137
}
