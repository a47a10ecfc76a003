import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool, type ToolRun } from '@smithers/tool-core'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { byEffort } from '../../../../scripts/bench/effort.ts'
import { atMost, type BenchRow, benchRow, figureOf } from '../../../../scripts/bench/result.ts'
import { nextCall } from './run-tools.ts'

const counts = byEffort({
  full: [1000, 100_000, 1_000_000],
  short: [1000, 100_000, 1_000_000],
  quick: [1000, 10_000],
})
const rounds = byEffort({ full: 40, short: 30, quick: 3 })
const callsPerRound = 25
const allowedGrowth = 1.2

const order = defineTool({
  name: 'order',
  schema: z.object({ item: z.string() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ item }, ctx) => ({ item, key: ctx.idempotencyKey }),
})

/**
 * A call of a second attempt, by the number of calls that the first one made: with a log in SQLite, and in turns, so that
 * a slow moment falls on all.
 */
export async function compareHistories(folder: string): Promise<readonly BenchRow[]> {
  const attempts = []
  for (const count of counts) {
    const log = createSqliteLog({ path: await filledLog(folder, count) })
    const run = createToolRun({ runId: 'run', attempt: 2, log })
    const startedAt = performance.now()
    await execute(run, 'first')
    const openedMs = performance.now() - startedAt
    attempts.push({ count, log, run, openedMs, times: [] as number[] })
  }
  for (let round = -5; round < rounds; round += 1) {
    for (const { run, times } of attempts) {
      const startedAt = performance.now()
      for (let call = 0; call < callsPerRound; call += 1) await execute(run, `${round}-${call}`)
      if (round >= 0) times.push(((performance.now() - startedAt) * 1000) / callsPerRound)
    }
  }
  const base = figureOf(attempts[0]?.times ?? [])
  const rows = attempts.map(({ count, times, openedMs }, index) =>
    benchRow(figureOf(times), {
      job: `a call after ${count.toLocaleString('en').replaceAll(',', ' ')} earlier ones`,
      ...(index === 0
        ? {}
        : { beside: { name: 'after 1 000', ...base }, goal: atMost(allowedGrowth) }),
      note: `first call of the attempt: ${openedMs.toFixed(0)} ms`,
    }),
  )
  for (const { log } of attempts) await log.close()
  return rows
}

async function execute(run: ToolRun, item: string): Promise<void> {
  await run.tools({ order }).order.execute({ item }, nextCall())
}

/** A log with calls of a first attempt: one that was made, and copies of its row that differ in what must. */
async function filledLog(folder: string, count: number): Promise<string> {
  const path = join(folder, `after-${count}.db`)
  const log = createSqliteLog({ path })
  await execute(createToolRun({ runId: 'run', attempt: 1, log }), 'one')
  await log.close()
  const database = new Database(path)
  const columns = (
    database.pragma('table_info(_smithers_tool_calls)') as { readonly name: string }[]
  ).map(({ name }) => name)
  const copied: Readonly<Record<string, string>> = {
    seq: 'n',
    call_token: `'token-' || n`,
    tool_call_id: `'earlier-' || n`,
    idempotency_key: `'key-' || n`,
    input_hash: `'hash-' || n`,
  }
  database.exec(`
    WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO _smithers_tool_calls (${columns.join(', ')})
    SELECT ${columns.map((name) => copied[name] ?? `first.${name}`).join(', ')}
    FROM numbers, (SELECT * FROM _smithers_tool_calls WHERE seq = 1) AS first`)
  database.close()
  return path
}
