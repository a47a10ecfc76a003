import { Option } from 'commander'
import { isDefaultLog } from '../log/log-path.ts'
import { shellWord } from '../terminal/shell-word.ts'

/** The option that makes a printed command read this log; empty for the default log. */
export function logArgument(path: string): string {
  return isDefaultLog(path) ? '' : ` --log ${shellWord(path)}`
}

/** The option `--log`. Its default is found out when a command runs, since that may create a directory. */
export function logOption(): Option {
  return new Option(
    '--log <file>',
    "the SQLite file that records runs and calls (default: in the project's state directory)",
  ).env('SMITHERS_LOG')
}
