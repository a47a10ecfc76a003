import { Option } from 'commander'
import { positiveInteger } from './option-values.ts'

/** The options of every command that runs tools: network and limits. */
export function toolOptions(): readonly Option[] {
  return [
    new Option('--allow-network', 'let commands use the network (default: no)'),
    new Option('--max-output-bytes <n>', 'maximum bytes of a file read and of an output').argParser(
      positiveInteger,
    ),
    new Option(
      '--tool-timeout-ms <n>',
      'time limit of one command or search, in milliseconds',
    ).argParser(positiveInteger),
  ]
}
