// The demo of several machines: npm run demo:cluster. Starts PostgreSQL, three worker processes and a payment server,
// kills a worker every second while another lives, and counts the payments. --workers, --runs, --charges, --kill-every,
// --kills and --answer (milliseconds of a payment) change the numbers; --json prints the outcome as JSON. Let --answer be well below
// --workers times --kill-every: a worker that lives for less than a payment only finishes what others have paid.
import { parseArgs } from 'node:util'
import { createTestServer } from '../../log-postgres/test/fixtures/test-server.ts'
import { clusterTable } from './cluster-table.ts'
import { runCluster } from './run-cluster.ts'

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '3' },
    runs: { type: 'string', default: '40' },
    charges: { type: 'string', default: '3' },
    'kill-every': { type: 'string', default: '1000' },
    kills: { type: 'string' },
    answer: { type: 'string', default: '500' },
    json: { type: 'boolean', default: false },
  },
})
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort(new Error('Stopped by SIGINT.')))
process.once('SIGTERM', () => interruption.abort(new Error('Stopped by SIGTERM.')))
const line = (text: string): void => {
  if (!values.json) console.log(text)
}

line('PostgreSQL starts in a temporary folder.')
const server = await createTestServer()
try {
  const outcome = await runCluster({
    connectionString: server.connectionString,
    schema: 'public',
    workers: Number(values.workers),
    runs: Number(values.runs) - 1,
    charges: Number(values.charges),
    killEveryMs: Number(values['kill-every']),
    ...(values.kills !== undefined && { mostKills: Number(values.kills) }),
    approvals: 1,
    answerMs: Number(values.answer),
    // A machine that is far slower than any we know still ends by then.
    signal: AbortSignal.any([interruption.signal, AbortSignal.timeout(900_000)]),
    onLine: line,
  })
  console.log(values.json ? JSON.stringify(outcome) : clusterTable(outcome))
  process.exitCode = outcome.holds ? 0 : 1
} finally {
  await server.remove()
}
