export { createSqliteLog } from './sqlite-log.ts'
export type {
  SqliteLog,
  SqliteLogConnection,
  SqliteLogFile,
  SqliteLogOptions,
  SqliteLogSettings,
} from './sqlite-log.ts'
export type { SqliteDatabase, SqliteStatement, SqlValue } from './sqlite-database.ts'
export { defaultLogPath, stateDirectory, type StateDirectoryOptions } from './state-directory.ts'
