import { Option } from 'commander'

/**
 * The option `--log`. Its default is found out when a command runs, since that may create a directory, and since the help
 * must not print a password of `SMITHERS_LOG`.
 */
export function logOption(): Option {
  return new Option(
    '--log <log>',
    "the SQLite file or the postgres:// address, with ?schema=NAME behind it for a schema of its own, that records runs and calls (default: SMITHERS_LOG, or in the project's state directory)",
  )
}

/** The option `--schema` of commands that read the tables of PostgreSQL. */
export function schemaOption(): Option {
  return new Option(
    '--schema <name>',
    'the schema of a log in PostgreSQL (default: ?schema= of --log, or public)',
  )
}
