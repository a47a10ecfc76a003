import { SmithersError, type ToolCallLog } from '@smithers/tool-core'

/** The log of a run, from its beginning to its end. */
export interface LogOfRun {
  readonly log: ToolCallLog
  /** Closes a log that was opened for the run, after the last run that uses it. */
  release(): Promise<void>
}

/**
 * The log that the caller gave, or the default log of the project that `folder` belongs to: a SQLite file in the
 * project's state directory, outside every root.
 *
 * @throws SmithersError `INVALID_INPUT` when `@smithers/log-sqlite` is not installed; `TOOL_LOG_UNAVAILABLE` when the file
 *   cannot be opened.
 */
export async function logOfRun(given: ToolCallLog | undefined, folder: string): Promise<LogOfRun> {
  if (given !== undefined) return { log: given, release: async () => {} }
  const { createSqliteLog, defaultLogPath } = await importSqlite()
  const path = defaultLogPath(folder)
  const known = defaultLogs.get(path)
  const shared = known ?? { log: createSqliteLog({ path }), runs: 0 }
  if (known === undefined) defaultLogs.set(path, shared)
  shared.runs += 1
  return {
    log: shared.log,
    async release() {
      shared.runs -= 1
      if (shared.runs > 0) return
      defaultLogs.delete(path)
      await shared.log.close()
    },
  }
}

interface SharedLog {
  readonly log: ToolCallLog
  runs: number
}

/** By path. Runs that overlap share one connection, so a server with many runs needs few descriptors. */
const defaultLogs = new Map<string, SharedLog>()

type LogSqlite = typeof import('@smithers/log-sqlite')

/** Loaded by the first run without a log: a program that brings its own needs neither the package nor its binary. */
async function importSqlite(): Promise<LogSqlite> {
  try {
    // A bundler must not follow it: the package holds a native module.
    return await import(/* webpackIgnore: true */ '@smithers/log-sqlite')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new SmithersError(
      'INVALID_INPUT',
      'Without the option log, a run is recorded in a SQLite file by @smithers/log-sqlite, which could not be loaded. ' +
        `Install it, or pass a log: createMemoryLog() of @smithers/tool-core/memory-log ends with the process. (${reason})`,
      { details: { option: 'log' }, cause, effect: 'none' },
    )
  }
}
