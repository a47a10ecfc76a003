import { logConformance } from '@smithers/log-conformance/vitest'
import { createLog } from './fixtures/create-node-sqlite-log.ts'
import { sqliteConformance } from './fixtures/sqlite-conformance.ts'

logConformance({
  ...sqliteConformance,
  name: 'sqlite over node:sqlite',
  createLog,
  processModule: new URL('./fixtures/create-node-sqlite-log.ts', import.meta.url),
  execArgv: ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning'],
  crashesPerPoint: 4,
  randomCrashes: 4,
})
