import { SmithersError, type ToolCallLog } from '@smithers/tool-core'
import { outsideRoot } from './trusted-file.ts'

/**
 * Opens the log that `--log` names: a SQLite file outside the root, or a PostgreSQL database, whose packages are loaded
 * then.
 *
 * @throws SmithersError `INVALID_INPUT`, `TOOL_LOG_UNAVAILABLE`
 */
export async function openLog(place: string, rootDir: string): Promise<ToolCallLog> {
  if (/^postgres(ql)?:\/\//.test(place)) {
    const { createPostgresLog } = await postgresPackage()
    return createPostgresLog({ connectionString: place })
  }
  const path = outsideRoot('--log', place, rootDir)
  const { createSqliteLog } = await import('@smithers/log-sqlite')
  return createSqliteLog({ path })
}

async function postgresPackage(): Promise<typeof import('@smithers/log-postgres')> {
  try {
    await import('pg')
    return await import('@smithers/log-postgres')
  } catch (cause) {
    throw new SmithersError(
      'INVALID_INPUT',
      '--log postgres://… needs two more packages. Install them beside this one: npm install @smithers/log-postgres pg',
      { cause, effect: 'none' },
    )
  }
}
