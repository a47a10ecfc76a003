/**
 * What a full table costs: `pnpm bench growth [ROWS] [FOLDER]`. Fills a log up to a number of calls, 10⁶ unless told, 300
 * bytes in and one kilobyte out, and prints at 10⁴, 10⁵ and so on what a pair, a refused claim, a page and a batch of a
 * prune take, and how large a call is on the disk. A small log of 10⁴ calls is measured in turns with the large one, so
 * that a busy moment of the machine meets both; the ratio is the median of the ratios. Then what a start costs beside
 * months of archived calls.
 */
import { createPostgresLog, databaseStatus, type PostgresLog } from '@smithers/log-postgres'
import pg from 'pg'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { attempt, publish } from '../../../scripts/bench/publish.ts'
import { atMost, type BenchRow, benchRow, figureOf, single } from '../../../scripts/bench/result.ts'
import { benchFinish, benchRow as rowOfCall } from '../../log-sqlite/bench/bench-row.ts'
import { createBenchServer } from './bench-server.ts'
import {
  callsOfRun,
  claim,
  firstMs,
  newestPage,
  pageFromFiles,
  pageOfRun,
  pair,
  prunedCall,
  relaxed,
  start,
} from './growth-jobs.ts'

const most = Number(benchArguments[0] ?? byEffort({ full: 1e6, short: 1e5, quick: 1e4 }))
const command = benchCommand('growth', ...benchArguments.slice(0, 1))
const server = await createBenchServer(benchArguments[1])
const admin = new pg.Pool({ connectionString: server.connectionString })
admin.on('error', () => {})
const least = 10_000
const rounds = byEffort({ full: 9, short: 9, quick: 2 })
/** How many times slower a large log may be than a small one. */
const allowedGrowth = 1.2

try {
  await attempt('growth of a log', measureGrowth)
  await attempt('months of archive', measureArchive)
} finally {
  await admin.end()
  await server.remove()
}

async function measureGrowth(): Promise<void> {
  const { connectionString } = server
  const large = await createPostgresLog({ connectionString, schema: 'large', maxConnections: 1 })
  const rows: BenchRow[] = []
  const sizes: BenchRow[] = []
  for (let count = 0, next = least; next <= most; count = next, next *= 10) {
    await fill('large', count, next)
    const schema = `small_${next}`
    const small = await createPostgresLog({ connectionString, schema, maxConnections: 1 })
    await fill(schema, 0, least)
    const { tables } = await databaseStatus({ connectionString, schema: 'large' })
    const calls = tables.find(({ name }) => name === '_smithers_tool_calls')
    const bytes = ((calls?.tableBytes ?? 0) + (calls?.indexBytes ?? 0)) / next
    sizes.push(benchRow(single(bytes), { job: `${thousands(next)} calls` }))
    rows.push(...(await compare(small, large, next)))
    await small.close()
  }
  await large.close()
  publish({
    name: 'growth',
    title: 'A log in PostgreSQL that grows',
    about: `The same work in a log of many calls and in one of ${thousands(least)}, in turns. The first rows compare two logs of one size: their ratios are the noise of the machine. \`pnpm bench growth\` without \`--short\` goes on to a million calls; [growth](growth.md) has its figures.`,
    command,
    rounds: `Medians of ${rounds} rounds; ratios are medians of those within the rounds`,
    unit: 'µs',
    chart: 'ratio',
    rows,
  })
  publish({
    name: 'growth-size',
    title: 'Size of a call in PostgreSQL',
    about: 'Table and indexes by the number of calls, each with 300 B in and 1 KB out.',
    command,
    rounds: 'Asked once',
    unit: 'bytes',
    chart: 'median',
    rows: sizes,
  })
}

/** What a start pays for the months of the archive in which it looks for its key. */
async function measureArchive(): Promise<void> {
  const { connectionString } = server
  const open = (schema: string): Promise<PostgresLog> =>
    createPostgresLog({ connectionString, schema, maxConnections: 1 })
  const rows: BenchRow[] = []
  const [none, some] = await Promise.all([open('no_month'), open('months')])
  for (let months = 0, next = 12; next <= 36; months = next, next += 12) {
    for (let month = months; month < next; month += 1) {
      const startedAtMs = Date.UTC(2020, month)
      const row = rowOfCall({ runId: `month-${month}`, seq: 1, startedAtMs })
      await some.start(row, relaxed)
      await some.finish(row.callToken, { ...benchFinish, finishedAtMs: startedAtMs })
    }
    await some.archive()
    const times = await inTurns(
      () => start(none),
      () => start(some),
    )
    rows.push(besideBase(`a start beside ${next} months`, 'no archive', times))
  }
  publish({
    name: 'growth-archive',
    title: 'A call beside months of archive',
    about:
      'A start looks for its key in the archive too, in one index for each month. Drop the months that you do not need.',
    command,
    rounds: `Medians of ${rounds} rounds`,
    unit: 'µs',
    chart: 'ratio',
    rows,
  })
  await Promise.all([none.close(), some.close()])
}

/** Finished calls, in runs whose calls lie between those of nine others, as they do in a table in use. */
async function fill(schema: string, from: number, to: number): Promise<void> {
  const step = 100_000
  for (let begin = from; begin < to; begin += step) {
    await admin.query(
      `INSERT INTO ${schema}._smithers_tool_calls (run_id, node_id, iteration, attempt, seq, tool_name, input_json,
        output_json, started_at_ms, finished_at_ms, status, call_token, tool_call_id, idempotency_key, key_use, claim,
        input_hash, side_effect, idempotent, effect, owner_id, lease_expires_at_ms)
      SELECT 'run-' || i / ${callsOfRun * 10} * 10 + i % 10, 'node-1', 0, 1, i, 'charge', $1, $2, ${firstMs} + i,
        ${firstMs} + i + 5, 'success', gen_random_uuid()::text, 'call_' || i, gen_random_uuid()::text, 0, 'inflight',
        repeat('a', 64), true, false, 'applied', 'host:1:1', ${firstMs} + i + 60000
      FROM generate_series($3::bigint, $4::bigint - 1) AS i`,
      [rowOfCall().inputJson, benchFinish.outputJson, begin, Math.min(begin + step, to)],
    )
  }
  // Else the first to read is the one who writes what the filling has left in memory, to make room.
  await admin.query(`VACUUM ANALYZE ${schema}._smithers_tool_calls`)
  await admin.query('CHECKPOINT')
}

/** Each kind of work: the time of the large log and its ratio to the small one. */
async function compare(
  small: PostgresLog,
  large: PostgresLog,
  count: number,
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const [job, measure, before] of [
    ['a pair', pair],
    ['a refused claim', claim],
    ['a page of a run', pageOfRun],
    ['a page from files', pageFromFiles, () => forgetRows(small, large)],
    ['the newest page', newestPage],
    ['a pruned call', prunedCall],
  ] as const) {
    const times = await inTurns(
      (round) => measure(small, round, least),
      (round) => measure(large, round, count),
      before,
    )
    // The first line compares equals: what it misses is noise, and no promise.
    const limit = count > least ? allowedGrowth : undefined
    rows.push(
      besideBase(`${job}, ${thousands(count)} calls`, `${thousands(least)} calls`, times, limit),
    )
  }
  return rows
}

interface Times {
  readonly base: number[]
  readonly ours: number[]
}

/** Each round measures both, and the next one in the other order: what the first leaves to do meets each of them. */
async function inTurns(
  measureBase: (round: number) => Promise<number>,
  measureOurs: (round: number) => Promise<number>,
  before?: () => Promise<void>,
): Promise<Times> {
  const times: Times = { base: [], ours: [] }
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round += 1) {
    await before?.()
    const isOursFirst = round % 2 === 1
    const early = isOursFirst ? await measureOurs(round) : undefined
    const base = await measureBase(round)
    const ours = early ?? (await measureOurs(round))
    if (round === 0) continue
    times.base.push(base)
    times.ours.push(ours)
  }
  return times
}

/**
 * Empties the memory of the server. A small log always fits into it, so a page that one of many runs has not been asked
 * for lately was compared with a page in memory: that is the size of the memory, not what the calls cost.
 */
async function forgetRows(...logs: readonly PostgresLog[]): Promise<void> {
  await server.stop('SIGINT')
  await server.start()
  // Connects, and reads what the server knows of the tables.
  for (const log of logs) await log.list({ runId: 'none', limit: 50 })
}

function thousands(count: number): string {
  return count.toLocaleString('en').replaceAll(',', ' ')
}

function besideBase(job: string, name: string, { base, ours }: Times, limit?: number): BenchRow {
  const ratios = ours.map((time, round) => time / (base[round] ?? Number.NaN))
  return benchRow(figureOf(ours), {
    job,
    beside: { name, ...figureOf(base) },
    ratio: figureOf(ratios).median,
    goal: limit === undefined ? undefined : atMost(limit),
  })
}
