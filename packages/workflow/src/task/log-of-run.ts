import { SmithersError, type ToolCallLog } from '@smithers/tool-core'
import { type OpenCalls, openCallsOf } from './open-calls.ts'

/** The log of a run, from its beginning to its end. */
export interface LogOfRun {
  readonly log: ToolCallLog
  /**
   * Closes a log that was opened for the run, after the last run that uses it. Waits for calls that outlive the run, for at
   * most five seconds: a row that could not be finished would say for ever that its call runs.
   */
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
  const shared = known ?? { calls: openCallsOf(createSqliteLog({ path })), runs: 0, releases: 0 }
  if (known === undefined) defaultLogs.set(path, shared)
  shared.runs += 1
  return {
    log: shared.calls.log,
    async release() {
      shared.runs -= 1
      shared.releases += 1
      const release = shared.releases
      if (shared.runs > 0) return
      await shared.calls.ended(closeGraceMs)
      // A run that began meanwhile closes the log.
      if (shared.runs > 0 || shared.releases > release) return
      defaultLogs.delete(path)
      await shared.calls.log.close()
    },
  }
}

/** How long a log waits for calls that outlive the last run, in milliseconds: as long as `close` of a run. */
const closeGraceMs = 5_000

interface SharedLog {
  readonly calls: OpenCalls
  /** Those that use it now. */
  runs: number
  /** How many runs have ended. */
  releases: number
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
