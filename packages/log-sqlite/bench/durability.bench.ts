/**
 * What the SQLite log costs: `pnpm bench durability [CALLS] [FOLDER]`. Prints the time of a started and finished pair
 * beside raw prepared statements, the fsyncs of calls that are not idempotent, what a tool's whole call costs over a
 * plain AI SDK tool, four processes on one file, and a page of a listing at 1 000 and at 100 000 rows.
 */
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolContext, defineTool, runWithToolContext } from '@smithers/tool-core'
import type { ToolCallLog } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { z } from 'zod'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { attempt, publish } from '../../../scripts/bench/publish.ts'
import { atMost, benchRow, type BenchRow, figureOf } from '../../../scripts/bench/result.ts'
import { benchFinish, benchRow as rowOfCall } from './bench-row.ts'
import { logPair, rawPair } from './pairs.ts'

const calls = Number(benchArguments[0] ?? byEffort({ full: 10_000, short: 5000, quick: 50 }))
const syncedCalls = Math.min(calls, byEffort({ full: 2000, short: 1000, quick: 20 }))
const command = benchCommand('durability')
const folder = mkdtempSync(join(benchArguments[1] ?? tmpdir(), 'log-bench-'))
let files = 0
const newFile = (): string => join(folder, `${(files += 1)}.db`)

try {
  await attempt('a pair in SQLite', pairs)
  await attempt('a whole call with SQLite', wholeCalls)
  await attempt('pages of a log in SQLite', pages)
  if (byEffort({ full: true, short: false, quick: false })) {
    countFsyncs()
    await contention('relaxed')
    await contention('fsync')
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Microseconds of every run of an action, warmed up. */
async function timed(count: number, action: (index: number) => unknown): Promise<number[]> {
  const warmUp = Math.min(500, count)
  const times: number[] = []
  for (let index = 1; index <= count + warmUp; index += 1) {
    const from = performance.now()
    const result = action(index)
    if (result instanceof Promise) await result
    const took = (performance.now() - from) * 1000
    if (index > warmUp) times.push(took)
  }
  return times
}

async function pairs(): Promise<void> {
  const raw = await timed(calls, rawPair(newFile()))
  const beside = { name: 'better-sqlite3', ...figureOf(raw) }
  const job = 'a pair'
  const rows = [benchRow(figureOf(raw), { job, subject: 'better-sqlite3', isOurs: false })]
  for (const [subject, count, work] of [
    ['relaxed', calls, logPair(newFile(), 'relaxed')],
    ['start with fsync, relaxed end', syncedCalls, logPair(newFile(), 'fsync')],
    ['durability "full"', syncedCalls, logPair(newFile(), 'relaxed', 'full')],
  ] as const)
    rows.push(benchRow(figureOf(await timed(count, work)), { job, subject, beside }))
  publish({
    name: 'sqlite-pair',
    title: 'A call in the SQLite log',
    about:
      'The start and the end of a call, 300 B in and 1 KB out, beside a prepared insert and update of `better-sqlite3` that do not wait for the disk and check nothing.',
    command,
    rounds: `Medians of ${calls} pairs, ${syncedCalls} with fsync`,
    unit: 'µs',
    chart: 'ratio',
    rows,
  })
}

function countFsyncs(): void {
  const traced = 1000
  const trace = join(folder, 'trace')
  const program = fileURLToPath(new URL('./programs/non-idempotent-calls.ts', import.meta.url))
  const { status } = spawnSync(
    'strace',
    [
      '-f',
      '-y',
      '-e',
      'trace=fsync,fdatasync,write',
      '-o',
      trace,
      process.execPath,
      '--conditions=@smithers/source',
      program,
      newFile(),
      String(traced),
    ],
    { stdio: 'ignore' },
  )
  if (status !== 0) {
    console.log('fsyncs: not counted, since strace is not installed here\n')
    return
  }
  const text = readFileSync(trace, 'utf8')
  const during = text.slice(text.indexOf('calls begin'), text.indexOf('calls end'))
  const syncs = during.split('\n').filter((line) => /\bf(data)?sync\(/.test(line))
  const ofLog = syncs.filter((line) => line.includes('-wal>')).length
  console.log(
    `fsyncs of ${traced} calls of a tool that is not idempotent (strace): ${syncs.length} = one a call and ` +
      `${syncs.length - traced} at the ${syncs.length - ofLog} checkpoints; ${ofLog} of the write-ahead log, ` +
      `${syncs.length - ofLog} of the database\n`,
  )
}

async function wholeCalls(): Promise<void> {
  const schema = z.object({ customer: z.string(), amount: z.number() })
  const input = { customer: 'alice', amount: 100 }
  const output = { ok: true }
  const plain = { inputSchema: schema, execute: async () => output }
  const job = 'a call'
  const rows = [
    benchRow(figureOf(await timed(calls, () => plain.execute())), {
      job,
      subject: 'a plain AI SDK tool',
      isOurs: false,
    }),
  ]

  const upsert = defineTool({
    name: 'upsert',
    schema,
    sideEffect: true,
    idempotent: true,
    execute: async () => output,
  })
  const charge = defineTool({
    name: 'charge',
    schema,
    sideEffect: true,
    execute: async (_, ctx) => ({ key: ctx.idempotencyKey }),
  })
  const logs: [string, ToolCallLog, typeof upsert | typeof charge, number][] = [
    ['defineTool, memory log', createMemoryLog(), upsert, calls],
    [
      'defineTool, SQLite, idempotent (relaxed start)',
      createSqliteLog({ path: newFile() }),
      upsert,
      calls,
    ],
    [
      'defineTool, SQLite relaxed, not idempotent',
      createSqliteLog({ path: newFile(), durability: 'relaxed' }),
      charge,
      calls,
    ],
    [
      'defineTool, SQLite, not idempotent (fsync start)',
      createSqliteLog({ path: newFile() }),
      charge,
      syncedCalls,
    ],
  ]
  for (const [name, log, tool, count] of logs) {
    const context = createToolContext({ runId: 'run-1', nodeId: 'node-1', log })
    const execute = tool.execute as (args: unknown, options: unknown) => Promise<unknown>
    const times = await runWithToolContext(context, () =>
      timed(count, (index) =>
        execute({ ...input, amount: index }, { toolCallId: `call_${index}`, messages: [] }),
      ),
    )
    rows.push(benchRow(figureOf(times), { job, subject: name }))
    await log.close()
  }
  publish({
    name: 'sqlite-call',
    title: 'A whole call with each kind of log',
    about: 'A tool that does nothing, called in a task: schema, key, a row before and a row after.',
    command,
    rounds: `Medians of ${calls} calls, ${syncedCalls} with fsync`,
    unit: 'µs',
    chart: 'median',
    rows,
  })
}

async function contention(durability: 'fsync' | 'relaxed'): Promise<void> {
  const processes = 4
  const each = 500
  const path = newFile()
  const program = fileURLToPath(new URL('./programs/contending-pairs.ts', import.meta.url))
  const children = await Promise.all(
    Array.from({ length: processes }, async (_, index) => {
      const child = fork(program, [path, `node-${index}`, String(each), durability], {
        execArgv: ['--conditions=@smithers/source'],
      })
      await once(child, 'message')
      return child
    }),
  )
  const from = performance.now()
  const answers = await Promise.all(
    children.map(async (child) => {
      const answered = once(child, 'message')
      child.send('begin')
      const [answer] = (await answered) as [
        { errors: number; waits: number; longestBlockMs: number },
      ]
      return answer
    }),
  )
  const tookMs = performance.now() - from
  const log = createSqliteLog({ path })
  const rows = await log.list({ limit: processes * each + 1 })
  await log.close()
  const sum = (field: 'errors' | 'waits'): number =>
    answers.reduce((total, answer) => total + answer[field], 0)
  console.log(
    `${processes} processes × ${each} pairs on one file, ${durability} starts: ${tookMs.toFixed(0)} ms, ` +
      `${sum('errors')} errors, ${processes * each - rows.length} rows missing, ${sum('waits')} writes had to wait, ` +
      `longest block of an event loop ${Math.max(...answers.map((answer) => answer.longestBlockMs)).toFixed(0)} ms`,
  )
}

async function pages(): Promise<void> {
  const sizes = byEffort({ full: [1000, 100_000], short: [1000, 100_000], quick: [1000, 2000] })
  const repeats = byEffort({ full: 1000, short: 500, quick: 5 })
  const base: number[][] = []
  const rows: BenchRow[] = []
  for (const size of sizes) {
    const log = createSqliteLog({ path: newFile() })
    // Ten runs, written in turn, so that the rows of one lie all over the file.
    for (let index = 0; index < size; index += 1) {
      const runId = `run-${index % 10}`
      const row = rowOfCall({ runId, seq: index + 1, startedAtMs: 1_800_000_000_000 + index })
      void log.start(row, { durability: 'relaxed', claim: null })
      void log.finish(row.callToken, benchFinish)
    }
    const run = await log.list({ runId: 'run-3', limit: size })
    const after = run[Math.floor(run.length / 2)]
    if (after === undefined) throw new Error('the run is empty')
    for (const [place, query] of [
      ['the run by time', { runId: 'run-3', limit: 50, after }],
      ['one task by seq', { runId: 'run-3', nodeId: 'node-1', iteration: 0, limit: 50, after }],
    ] as const) {
      const times = await timed(repeats, () => log.list(query))
      base.push(times)
      const small = size === sizes[0] ? undefined : base[place === 'the run by time' ? 0 : 1]
      rows.push(
        benchRow(figureOf(times), {
          job: `${place}, ${size} rows in the log`,
          ...(small === undefined
            ? {}
            : { beside: { name: `${sizes[0]} rows`, ...figureOf(small) }, goal: atMost(1.2) }),
        }),
      )
    }
    await log.close()
  }
  publish({
    name: 'sqlite-pages',
    title: 'A page of the SQLite log',
    about:
      'Fifty calls of one run by cursor, from its middle, in a small log and in a large one. The rows of the run lie all over the file.',
    command,
    rounds: `Medians of ${repeats} pages`,
    unit: 'µs',
    chart: 'median',
    rows,
  })
}
