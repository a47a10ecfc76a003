// For packages that keep tables of their own in the file of the log, under its rules for locks and commits.
export {
  createLogConnection,
  type LogConnection,
  type LogConnectionOptions,
} from './log-connection.ts'
export { openDatabaseFile } from './open-database.ts'
export { inWriteTransaction } from './sqlite-database.ts'
