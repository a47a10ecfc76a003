import { Option } from 'commander'
import { positiveInteger } from './option-values.ts'

/** The options of every command that runs tools: which hosts their commands may reach. */
export function hostOptions(): readonly Option[] {
  return [
    new Option(
      '--allow-host <host>',
      'let commands reach this host, as "example.com", "*.example.com" or "example.com:8080"; repeatable',
    )
      .argParser((host: string, earlier: readonly string[]) => [...earlier, host])
      .default([], 'none'),
    new Option('--ask-hosts', 'ask for your approval of hosts that --allow-host does not name'),
  ]
}

/** The option of commands that may resume a run. */
export function widerNetworkOption(): Option {
  return new Option(
    '--accept-wider-network',
    'resume although commands can then reach more than when the run began',
  )
}

/** The options of commands that begin a run: network and limits. */
export function toolOptions(): readonly Option[] {
  return [
    new Option('--allow-network', 'let commands reach every host (default: none)'),
    ...hostOptions(),
    new Option('--max-output-bytes <n>', 'maximum bytes of a file read and of an output').argParser(
      positiveInteger,
    ),
    new Option(
      '--tool-timeout-ms <n>',
      'time limit of one command or search, in milliseconds',
    ).argParser(positiveInteger),
  ]
}
