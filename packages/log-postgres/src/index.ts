export { createPostgresLog, migrate } from './postgres-log.ts'
export type {
  PostgresLog,
  PostgresLogOptions,
  PostgresLogPool,
  PostgresLogServer,
  PostgresLogSettings,
} from './postgres-log.ts'
export type {
  PostgresPool,
  PostgresResult,
  PostgresRow,
  PostgresStatement,
  PostgresValue,
} from './postgres-pool.ts'
