import { Option } from 'commander'

/** The file that is meant when none is given. */
export const defaultLog = 'smithers.db'

/** The file that holds runs and calls, for the commands about workflows. */
export function logOption(): Option {
  return new Option('--log <file>', 'the SQLite file that records runs and calls')
    .env('SMITHERS_LOG')
    .default(defaultLog)
}
