// Makes calls as a tool does that is not idempotent; run under a tracer that counts fsyncs.
import { createSqliteLog } from '@smithers/log-sqlite'
import { benchFinish, benchRow } from '../bench-row.ts'

const [path = '', calls = '0'] = process.argv.slice(2)
const log = createSqliteLog({ path })
// The tracer learns where the calls begin and end: opening and closing sync too.
process.stderr.write('calls begin\n')
for (let seq = 1; seq <= Number(calls); seq += 1) {
  const row = benchRow({ seq })
  await log.start(row, { durability: 'fsync', claim: 'inflight' })
  await log.finish(row.callToken, benchFinish)
}
process.stderr.write('calls end\n')
await log.close()
