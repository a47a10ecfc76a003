/**
 * What the SQLite log costs: `pnpm bench durability [CALLS] [FOLDER]`. Prints the time of a started and finished pair
 * beside raw prepared statements, the fsyncs of calls that are not idempotent, what a tool's whole call costs over a
 * plain AI SDK tool, four processes on one file, and a page of a listing at 1 000 and at 100 000 rows.
 */
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolContext, defineTool, runWithToolContext } from '@smithers/tool-core'
import type { ToolCallLog } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { benchFinish, benchRow } from './bench-row.ts'

const calls = Number(process.argv[2] ?? 10_000)
const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'log-bench-'))
let files = 0
const newFile = (): string => join(folder, `${(files += 1)}.db`)

console.log(
  `${cpus().length} × ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}, files in ${folder}\n`,
)
try {
  await pairs()
  countFsyncs()
  await wholeCalls()
  await contention('relaxed')
  await contention('fsync')
  await pages()
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
  return times.toSorted((a, b) => a - b)
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function report(name: string, times: readonly number[], base?: readonly number[]): void {
  const median = quantile(times, 0.5)
  const ratio = base === undefined ? '' : `× ${(median / quantile(base, 0.5)).toFixed(2)}`
  console.log(
    [
      name.padEnd(58),
      median.toFixed(1).padStart(8),
      quantile(times, 0.95).toFixed(1).padStart(8),
      quantile(times, 0.99).toFixed(1).padStart(9),
      ratio.padStart(8),
    ].join(' '),
  )
}

async function pairs(): Promise<void> {
  console.log(`A started and finished pair, 300 B in, 1 KB out, ${calls} pairs`)
  console.log(`${'µs'.padEnd(58)}   median      p95       p99`)
  const raw = await timed(calls, rawPair())
  report('better-sqlite3, prepared insert and update, two commits', raw)
  report('the log, relaxed', await timed(calls, logPair('relaxed')), raw)
  const synced = Math.min(calls, 2000)
  report('the log, fsync start and relaxed finish', await timed(synced, logPair('fsync')), raw)
  report('the log, durability "full"', await timed(synced, logPair('relaxed', 'full')), raw)
  console.log()
}

/** The least that two commits cost: the documented columns, the token and one index, no checks. */
function rawPair(): (index: number) => void {
  const database = new Database(newFile())
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.exec(`
    CREATE TABLE calls (run_id TEXT, node_id TEXT, iteration INTEGER, attempt INTEGER, seq INTEGER, tool_name TEXT,
      input_json TEXT, output_json TEXT, started_at_ms INTEGER, finished_at_ms INTEGER, status TEXT, error_json TEXT,
      idempotency_key TEXT, PRIMARY KEY (run_id, node_id, iteration, attempt, seq));
    CREATE INDEX calls_key ON calls (idempotency_key)`)
  const insert = database.prepare(
    `INSERT INTO calls (run_id, node_id, iteration, attempt, seq, tool_name, input_json, started_at_ms, status,
       idempotency_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'started', ?)`,
  )
  const update = database.prepare(
    `UPDATE calls SET status = 'success', output_json = ?, finished_at_ms = ?
     WHERE run_id = ? AND node_id = ? AND iteration = ? AND attempt = ? AND seq = ?`,
  )
  return (seq) => {
    const row = benchRow({ seq })
    const { runId, nodeId, toolName, inputJson, startedAtMs, idempotencyKey } = row
    insert.run(runId, nodeId, 0, 1, seq, toolName, inputJson, startedAtMs, idempotencyKey)
    update.run(benchFinish.outputJson, benchFinish.finishedAtMs, runId, nodeId, 0, 1, seq)
  }
}

function logPair(
  durability: 'fsync' | 'relaxed',
  setting: 'auto' | 'full' = 'auto',
): (index: number) => void {
  const log = createSqliteLog({ path: newFile(), durability: setting })
  return (seq) => {
    const row = benchRow({ seq })
    void log.start(row, { durability, claim: 'inflight' })
    if (log.finish(row.callToken, benchFinish) !== 'ok') throw new Error('the pair is not stored')
  }
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
  console.log(`A whole call of a tool that does nothing, ${calls} calls`)
  console.log(`${'µs'.padEnd(58)}   median      p95       p99`)
  const schema = z.object({ customer: z.string(), amount: z.number() })
  const input = { customer: 'alice', amount: 100 }
  const output = { ok: true }
  const plain = { inputSchema: schema, execute: async () => output }
  report('a plain AI SDK tool', await timed(calls, () => plain.execute()))

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
      2000,
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
    report(name, times)
    await log.close()
  }
  console.log()
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
  console.log('\nA page of 50 calls of one run by cursor, from the middle of the run')
  console.log(`${'µs'.padEnd(58)}   median      p95       p99`)
  const sizes = [1000, 100_000]
  const base: number[][] = []
  for (const size of sizes) {
    const log = createSqliteLog({ path: newFile() })
    // Ten runs, written in turn, so that the rows of one lie all over the file.
    for (let index = 0; index < size; index += 1) {
      const runId = `run-${index % 10}`
      const row = benchRow({ runId, seq: index + 1, startedAtMs: 1_800_000_000_000 + index })
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
      const times = await timed(1000, () => log.list(query))
      base.push(times)
      const small = size === sizes[0] ? undefined : base[place === 'the run by time' ? 0 : 1]
      report(`${place}, ${size} rows in the log`, times, small)
    }
    await log.close()
  }
}
