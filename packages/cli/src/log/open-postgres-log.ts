import type * as LogPostgres from '@smithers/log-postgres'
import { badInput, CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { describeError } from '../errors/describe-error.ts'
import { shownLog, withoutSecrets } from './log-target.ts'

/**
 * Does something with `@smithers/log-postgres`, an optional peer. What it throws names no password.
 *
 * @throws CommandFailure also when the package or `pg` is not installed
 */
export async function withPostgres<Value>(
  target: string,
  use: (package_: typeof LogPostgres) => Promise<Value>,
): Promise<Value> {
  const loaded = await load()
  try {
    return await use(loaded)
  } catch (error) {
    // Without the cause: it may hold the connection string.
    const reason = withoutSecrets(describeError(error), target)
    throw new CommandFailure(
      exitCodes.failed,
      `The log ${shownLog(target)} cannot be opened: ${reason}`,
    )
  }
}

async function load(): Promise<typeof LogPostgres> {
  try {
    return await import('@smithers/log-postgres')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw badInput(
      'A log in PostgreSQL needs two more packages. Install them beside @smithers/cli: npm install @smithers/log-postgres pg',
      error,
    )
  }
}
