import { createSqliteLog } from '@smithers/log-sqlite'

/** Opens the log of a location in this process, for the suite and for the processes that it starts. */
export function createLog(path) {
  return createSqliteLog({ path })
}
