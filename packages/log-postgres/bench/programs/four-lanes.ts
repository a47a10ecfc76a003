// One of two processes that write to one log at once, four lanes each.
import { type Contender, postgresContender, sqliteContender } from '../contender.ts'
import { pairsPerSecond } from '../lanes.ts'

const [target = '', place = '', durability = 'relaxed', prefix = '', forMs = '1000'] =
  process.argv.slice(2)
const starts = durability === 'fsync' ? 'fsync' : 'relaxed'
const contender: Contender =
  target === ''
    ? sqliteContender(place, starts)
    : await postgresContender(target, starts, { schema: place, maxConnections: 4 })
process.once('message', () => void contend())
process.send?.('ready')

async function contend(): Promise<void> {
  const rate = await pairsPerSecond(contender, { lanes: 4, forMs: Number(forMs), prefix })
  await contender.close()
  process.send?.(rate, () => process.disconnect())
}
