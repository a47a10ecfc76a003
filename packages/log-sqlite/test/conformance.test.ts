import { logConformance } from '@smithers/log-conformance/vitest'
import { sqliteConformance } from './fixtures/sqlite-conformance.ts'

logConformance(sqliteConformance)
