import { Option } from 'commander'

/** The file that holds runs and calls, for the commands about workflows. */
export function logOption(): Option {
  return new Option('--log <file>', 'the SQLite file that records runs and calls')
    .env('SMITHERS_LOG')
    .default('smithers.db')
}
