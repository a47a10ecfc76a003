/**
 * What the PostgreSQL log costs: `pnpm bench postgres [ROUNDS] [FOLDER]`. Prints a started and finished pair, 300 bytes
 * in and one kilobyte out, beside a raw insert and update and the SQLite log: in one lane, in many, and from two
 * processes. The contenders take turns in every round, so that a busy moment of the machine meets all of them; a ratio
 * is the median of the ratios within the rounds.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { attempt, publish } from '../../../scripts/bench/publish.ts'
import {
  atLeast,
  atMost,
  type BenchRow,
  benchRow,
  figureOf,
  type Goal,
} from '../../../scripts/bench/result.ts'
import { createBenchServer } from './bench-server.ts'
import {
  type Contender,
  postgresContender,
  rawContender,
  sqliteContender,
  type Starts,
} from './contender.ts'
import { pairsPerSecond, timesOfPairs } from './lanes.ts'

const rounds = Number(benchArguments[0] ?? byEffort({ full: 7, short: 5, quick: 1 }))
const command = benchCommand('postgres')
const folder = mkdtempSync(join(benchArguments[1] ?? tmpdir(), 'log-bench-'))
const server = await createBenchServer(benchArguments[1])
const { connectionString } = server
const forMs = byEffort({ full: 1500, short: 800, quick: 100 })
let places = 0
const newSchema = (): string => `bench_${(places += 1)}`
const newFile = (): string => join(folder, `${(places += 1)}.db`)

try {
  for (const starts of ['relaxed', 'fsync'] as const)
    await attempt(`one lane, ${named(starts)}`, () => oneLane(starts))
  await attempt('many lanes', publishLanes)
  await attempt('two processes', publishProcesses)
} finally {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
}

async function oneLane(starts: Starts): Promise<void> {
  const contenders = [
    await rawContender(connectionString, starts, newSchema()),
    await postgresContender(connectionString, starts, { schema: newSchema(), maxConnections: 1 }),
    sqliteContender(newFile(), starts),
  ]
  const count = byEffort(
    starts === 'fsync'
      ? { full: 300, short: 200, quick: 10 }
      : { full: 600, short: 400, quick: 10 },
  )
  const rows = await inTurns(
    contenders,
    'a pair',
    async (contender, round) =>
      figureOf(await timesOfPairs(contender, `lane-${round}`, count)).median,
    { 'log-postgres, one connection': starts === 'fsync' ? atMost(1.3) : undefined },
  )
  publish({
    name: `postgres-pair-${starts}`,
    title: `A call in the PostgreSQL log, ${starts === 'fsync' ? 'waiting for the disk' : 'relaxed'}`,
    about: `The start and the end of a call, 300 B in and 1 KB out, beside a raw insert and update over \`pg\`, with ${named(starts)} on both sides; and the SQLite log for comparison. Ratios are medians of those within the rounds.`,
    command,
    rounds: `Medians of ${rounds} rounds of ${count} pairs`,
    unit: 'µs',
    chart: 'ratio',
    rows,
  })
}

async function publishLanes(): Promise<void> {
  publish({
    name: 'postgres-lanes',
    title: 'Many calls at once in a log',
    about:
      'Lanes of one process that each make one call after another, with starts that wait for the disk: 8 lanes with 8 connections, 64 with 10.',
    command,
    rounds: `Medians of ${rounds} rounds of ${forMs} ms`,
    unit: 'pairs/s',
    chart: 'median',
    rows: [...(await manyLanes(8, 8)), ...(await manyLanes(64, 10, atLeast(2000)))],
  })
}

async function manyLanes(
  lanes: number,
  maxConnections: number,
  goal?: Goal,
): Promise<readonly BenchRow[]> {
  const settings = { schema: newSchema(), maxConnections }
  const contenders = [
    await postgresContender(connectionString, 'fsync', settings),
    sqliteContender(newFile(), 'fsync'),
  ]
  return await inTurns(
    contenders,
    `${lanes} lanes`,
    async (contender, round) =>
      await pairsPerSecond(contender, { lanes, forMs, prefix: `round-${round}` }),
    { [contenders[0]?.name ?? '']: goal },
  )
}

/** Measures every contender in every round; a ratio is the median of those to the raw one within the rounds. */
async function inTurns(
  contenders: readonly Contender[],
  job: string,
  measure: (contender: Contender, round: number) => Promise<number>,
  goals: Readonly<Record<string, Goal | undefined>>,
): Promise<readonly BenchRow[]> {
  const results = contenders.map((): number[] => [])
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const value = await measure(contender, round)
      if (round > 0) results[index]?.push(value)
    }
  }
  const [first = []] = results
  const rows = contenders.map(({ name }, index) => {
    const values = results[index] ?? []
    const ratios = values.map((value, round) => value / (first[round] ?? Number.NaN))
    const isRaw = name.startsWith('raw')
    const goal = goals[name]
    // Two logs that do the same are two rows; only a raw statement is a yardstick.
    if (index === 0 || !contenders[0]?.name.startsWith('raw'))
      return benchRow(figureOf(values), { job, subject: name, isOurs: !isRaw, goal })
    return benchRow(figureOf(values), {
      job,
      subject: name,
      goal,
      ratio: figureOf(ratios).median,
      beside: { name: contenders[0]?.name ?? '', ...figureOf(first) },
    })
  })
  for (const contender of contenders) await contender.close()
  return rows
}

async function publishProcesses(): Promise<void> {
  publish({
    name: 'postgres-processes',
    title: 'Two processes on one log',
    about:
      'Two processes of four lanes each on one log. Each row is one of the two: what one has, the other must not lose.',
    command,
    rounds: `Medians of ${Math.min(rounds, 3)} rounds of ${forMs} ms`,
    unit: 'pairs/s',
    chart: 'median',
    rows: [...(await twoProcesses('fsync')), ...(await twoProcesses('relaxed'))],
  })
}

async function twoProcesses(starts: Starts): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const name of ['postgres', 'sqlite'] as const) {
    const place = name === 'postgres' ? newSchema() : newFile()
    const target = name === 'postgres' ? connectionString : ''
    const program = fileURLToPath(new URL('./programs/four-lanes.ts', import.meta.url))
    const rates: number[][] = [[], []]
    for (let round = 0; round < Math.min(rounds, 3); round += 1) {
      const children = ['a', 'b'].map((process) =>
        fork(program, [target, place, starts, `${process}-${round}`, String(forMs)], {
          execArgv: ['--conditions=@smithers/source'],
        }),
      )
      // The first to open makes the tables.
      for (const child of children) await once(child, 'message')
      const answers = children.map(async (child) => {
        const answered = once(child, 'message')
        child.send('begin')
        return ((await answered) as [number])[0]
      })
      // The faster of a round first: who is faster may change, and a median must not hide that one starves.
      const both = (await Promise.all(answers)).toSorted((a, b) => b - a)
      for (const [index, rate] of both.entries()) rates[index]?.push(rate)
    }
    for (const [index, which] of ['the faster', 'the slower'].entries())
      rows.push(
        benchRow(figureOf(rates[index] ?? []), {
          job: named(starts),
          subject: `log-${name}, ${which}`,
        }),
      )
  }
  return rows
}

function named(starts: Starts): string {
  return starts === 'fsync' ? 'synced starts and relaxed ends' : 'all commits relaxed'
}
