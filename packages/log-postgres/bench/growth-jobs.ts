import type { PostgresLog } from '@smithers/log-postgres'
import { figureOf } from '../../../scripts/bench/result.ts'
import { benchFinish, benchRow as rowOfCall } from '../../log-sqlite/bench/bench-row.ts'

/** How the calls of the benchmark start. */
export const relaxed = { durability: 'relaxed', claim: 'inflight' } as const

/** The calls of a run, between which lie those of nine others. */
export const callsOfRun = 100

/** When the first of them started. */
export const firstMs: number = Date.now() - 30 * 86_400_000

/** How many calls of a log are gone. */
const pruned = new WeakMap<PostgresLog, number>()

/** The last position of a call of the benchmark itself. */
let pairs = 0

/** Microseconds of one of a number of actions, in the middle of them. */
async function timed(count: number, action: (index: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count; index += 1) {
    const from = performance.now()
    await action(index)
    times.push((performance.now() - from) * 1000)
  }
  return figureOf(times).median
}

/** A start and its end. */
export async function pair(log: PostgresLog): Promise<number> {
  const took = await timed(100, async () => {
    const row = rowOfCall({ runId: 'bench', seq: (pairs += 1) })
    await log.start(row, relaxed)
    await log.finish(row.callToken, benchFinish)
  })
  return took
}

/** A start alone: what it pays for the archive is lost in a pair. */
export async function start(log: PostgresLog): Promise<number> {
  const rows = Array.from({ length: 100 }, () => rowOfCall({ runId: 'bench', seq: (pairs += 1) }))
  const took = await timed(rows.length, async (index) => {
    const row = rows[index]
    if (row !== undefined) await log.start(row, relaxed)
  })
  for (const { callToken } of rows) await log.finish(callToken, benchFinish)
  return took
}

/** A start whose key is in use, and is refused with the row that uses it. */
export async function claim(log: PostgresLog): Promise<number> {
  const holder = rowOfCall({ runId: 'holder', seq: (pairs += 1) })
  await log.start(holder, relaxed)
  const { idempotencyKey } = holder
  const took = await timed(50, async () => {
    const row = rowOfCall({ runId: 'refused', seq: (pairs += 1), idempotencyKey })
    const result = await log.start(row, relaxed)
    if (result.ok) throw new Error('the key has two holders')
  })
  await log.finish(holder.callToken, benchFinish)
  return took
}

/** A page whose rows the server has in memory, as it has those of a run that goes on. */
export async function pageOfRun(log: PostgresLog, round: number, rows: number): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < 30; index += 1) {
    const runId = runOf(round * 30 + index, rows)
    await readPage(log, runId)
    times.push(await timed(1, () => readPage(log, runId)))
  }
  return figureOf(times).median
}

/** A page whose rows the server has forgotten, each of another part of the table. */
export async function pageFromFiles(
  log: PostgresLog,
  round: number,
  rows: number,
): Promise<number> {
  return await timed(5, (index) => readPage(log, runOf(round * 5 + index, rows)))
}

/** A run of the newer half, which no prune here has reached; the next is of another part. */
function runOf(index: number, rows: number): string {
  const groups = rows / (callsOfRun * 10)
  const group = groups / 2 + ((index * 7919) % (groups / 2))
  return `run-${group * 10 + (index % 10)}`
}

async function readPage(log: PostgresLog, runId: string): Promise<void> {
  const page = await log.list({ runId, limit: 50 })
  if (page.length !== 50) throw new Error(`the page has ${page.length} calls`)
}

/** The newest calls of all runs. */
export async function newestPage(log: PostgresLog): Promise<number> {
  return await timed(30, () => log.list({ order: 'descending', limit: 50 }))
}

/** The oldest calls, as many as one transaction removes; per call. */
export async function prunedCall(log: PostgresLog): Promise<number> {
  const before = (pruned.get(log) ?? 0) + 400
  pruned.set(log, before)
  const from = performance.now()
  const removed = await log.prune({ finishedBeforeMs: firstMs + before + 5 })
  if (removed !== 400) throw new Error(`the prune removed ${removed} calls`)
  return ((performance.now() - from) * 1000) / removed
}
