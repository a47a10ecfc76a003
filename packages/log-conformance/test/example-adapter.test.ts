import { logConformance } from '@smithers/log-conformance/vitest'
import { jsonLinesConformance } from './fixtures/json-lines-conformance.ts'

logConformance(jsonLinesConformance)
