import { Option } from 'commander'
import { shellWord } from '../terminal/shell-word.ts'

/** The file that is meant when none is given. */
const defaultLog = 'smithers.db'

/** What follows a command to make it read this log; empty for the default. */
export function logArgument(path: string): string {
  return path === defaultLog ? '' : ` --log ${shellWord(path)}`
}

/** The file that holds runs and calls, for the commands about workflows. */
export function logOption(): Option {
  return new Option('--log <file>', 'the SQLite file that records runs and calls')
    .env('SMITHERS_LOG')
    .default(defaultLog)
}
