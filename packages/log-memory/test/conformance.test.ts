import { createMemoryLog } from '@smithers/log-memory'
import { logConformance } from '@smithers/log-conformance/vitest'

logConformance({
  name: 'memory',
  capabilities: {
    durable: false,
    multiProcess: false,
    claims: true,
    approvals: true,
    state: true,
    runs: true,
    attempts: true,
    browsing: true,
  },
  createLog: () => createMemoryLog(),
  execArgv: ['--conditions=@smithers/source'],
  schema: { skip: 'rows in memory have no stored schema' },
  failures: { skip: 'memory has no disk that could be full or read-only' },
})
