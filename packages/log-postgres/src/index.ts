export type { ArchiveQuery, ArchiveResult } from './archive.ts'
export { databaseStatus } from './database-status.ts'
export type {
  ArchivePartitionStatus,
  DatabaseStatus,
  DatabaseStatusOptions,
  TableStatus,
} from './database-status.ts'
export type { DropArchivedQuery, DropArchivedResult } from './drop-archived.ts'
export { createPostgresLog, migrate } from './postgres-log.ts'
export type { PostgresLog } from './postgres-log.ts'
export type {
  PostgresLogOptions,
  PostgresLogPool,
  PostgresLogServer,
  PostgresLogSettings,
} from './postgres-log-options.ts'
export type {
  PostgresPool,
  PostgresResult,
  PostgresRow,
  PostgresStatement,
  PostgresValue,
} from './postgres-pool.ts'
export { schemaOf } from './schema-of.ts'
