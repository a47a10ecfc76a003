import type { PostgresLog } from '@smithers/log-postgres'
import { badInput } from '../errors/command-failure.ts'
import { logPathOf } from './log-path.ts'
import { isPostgres } from './log-target.ts'
import { withPostgres } from './open-postgres-log.ts'

/** Which log a command of `smithers db` is about. */
export interface DatabaseLogOptions {
  readonly log?: string
  readonly schema?: string
}

/**
 * The connection string of a log in PostgreSQL.
 *
 * @throws CommandFailure for a file
 */
export function databaseOf(log: string | undefined): string {
  const target = logPathOf(log)
  if (isPostgres(target)) return target
  throw badInput(
    `This command needs a log in PostgreSQL, and ${target} is a file. Give --log postgres://user@host/database.`,
  )
}

/**
 * Does something with a log, whose tables must exist. In a dry run all of it is one transaction, which is taken back: what
 * it counts is what would have happened.
 */
export async function withPostgresLog<Value>(
  options: DatabaseLogOptions,
  isDryRun: boolean,
  act: (log: PostgresLog, target: string) => Promise<Value>,
): Promise<Value> {
  const target = databaseOf(options.log)
  const open = (pool?: import('pg').Client): Promise<PostgresLog> =>
    withPostgres(target, ({ createPostgresLog, schemaOf }) => {
      const settings = {
        schema: schemaOf({ ...options, connectionString: target }),
        migrate: false,
      }
      return createPostgresLog(
        pool === undefined ? { ...settings, connectionString: target } : { ...settings, pool },
      )
    })
  if (!isDryRun) {
    const log = await open()
    try {
      return await act(log, target)
    } finally {
      await log.close()
    }
  }
  const client = await connected(target)
  try {
    await client.query('BEGIN')
    const log = await open(client)
    const value = await act(log, target)
    await log.close()
    return value
  } finally {
    // The server takes the transaction back.
    await client.end()
  }
}

async function connected(connectionString: string): Promise<import('pg').Client> {
  return await withPostgres(connectionString, async () => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString })
    client.on('error', () => {})
    await client.connect()
    return client
  })
}
