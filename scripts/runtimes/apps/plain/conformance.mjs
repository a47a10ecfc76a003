// The suite that every adapter of the log must pass, on this runtime: many processes, and some that are killed.
import { runLogConformance } from '@smithers/log-conformance'
import { createMemoryLog } from '@smithers/log-memory'
import { createLog } from './sqlite-log.mjs'

const promises = { claims: true, approvals: true, state: true, runs: true }
const skipped = {
  schema: { skip: 'does not depend on the runtime' },
  failures: { skip: 'does not depend on the runtime' },
}
const suites = [
  {
    ...skipped,
    name: 'memory',
    capabilities: { durable: false, multiProcess: false, ...promises },
    createLog: () => createMemoryLog(),
  },
  {
    ...skipped,
    name: 'sqlite',
    capabilities: { durable: true, multiProcess: true, ...promises },
    createLog,
    processModule: new URL('./sqlite-log.mjs', import.meta.url),
    crashesPerPoint: 2,
    randomCrashes: 4,
  },
]
let passed = 0
for (const suite of suites) {
  for (const { group, test, outcome, error } of await runLogConformance(suite)) {
    if (outcome === 'passed') passed += 1
    if (outcome !== 'failed') continue
    console.error(`${suite.name}: ${group}: ${test}: ${error?.stack ?? error}`)
    process.exitCode = 1
  }
}
console.log(passed)
