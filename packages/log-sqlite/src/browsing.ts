import type { ToolCallLog } from '@smithers/tool-core/log'
import { listRunsOn } from './list-runs.ts'
import type { LogConnection } from './log-connection.ts'
import { searchOn } from './search.ts'

/** What programs need that show a log. */
export function browsingOn(
  connection: LogConnection,
): Required<Pick<ToolCallLog, 'listRuns' | 'search' | 'version'>> {
  return {
    listRuns: (query) => listRunsOn(connection, query),
    search: (search) => searchOn(connection, search),

    version: () =>
      connection.read('ask for its version', () => {
        const [version] = connection.prepare(versionSql).all() as { version: string }[]
        return String(version?.version)
      }),
  }
}

// The first number counts the commits of other connections, the second the changes of this one.
const versionSql = `SELECT data_version || '.' || total_changes() AS version FROM pragma_data_version`
