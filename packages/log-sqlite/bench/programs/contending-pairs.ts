// One of several processes that write to one log at once. Tells how long its event loop was blocked.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSqliteLog } from '@smithers/log-sqlite'
import { benchFinish, benchRow } from '../bench-row.ts'

const [path = '', nodeId = '', pairs = '0', durability = 'relaxed'] = process.argv.slice(2)
const log = createSqliteLog({ path })
const rows = Array.from({ length: Number(pairs) }, (_, index) =>
  benchRow({ nodeId, seq: index + 1 }),
)
process.once('message', () => void contend())
process.send?.('ready')

async function contend(): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let errors = 0
  let waits = 0
  for (const row of rows) {
    try {
      const started = log.start(row, {
        durability: durability === 'fsync' ? 'fsync' : 'relaxed',
        claim: 'inflight',
      })
      if (started instanceof Promise) waits += 1
      const finished = log.finish((await started).ok ? row.callToken : '', benchFinish)
      if (finished instanceof Promise) waits += 1
      if ((await finished) !== 'ok') errors += 1
    } catch {
      errors += 1
    }
    await nextTurn()
  }
  delay.disable()
  await log.close()
  process.send?.({ errors, waits, longestBlockMs: delay.max / 1e6 }, () => process.disconnect())
}
