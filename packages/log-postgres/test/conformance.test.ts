import { logConformance } from '@smithers/log-conformance/vitest'
import { postgresConformance } from './fixtures/postgres-conformance.ts'
import { describeWithServer } from './fixtures/test-database.ts'

describeWithServer('createPostgresLog', () => logConformance(postgresConformance))
