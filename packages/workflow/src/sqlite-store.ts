export { createSqliteRunStore, type SqliteRunStoreOptions } from './store/sqlite-run-store.ts'
