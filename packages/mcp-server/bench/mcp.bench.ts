/**
 * This server beside `@modelcontextprotocol/server-filesystem`, both over stdio with the same client:
 * `pnpm bench mcp [RACED_OPERATIONS] [READS]`. Ways out by path and by link, races against a process that exchanges a
 * directory and a link, both judged by effects; the time of a read of 1 KB; the time to the first answer. The program
 * fails when one operation of ours gets out; it prints whether the times meet their goals, which depends on the machine.
 * It starts the built program where there is one (`pnpm build`), else the sources, which start more slowly.
 */
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { attempt, publish } from '../../../scripts/bench/publish.ts'
import { atMost, type BenchRow, benchRow, figureOf, single } from '../../../scripts/bench/result.ts'
import { timeReads, timeStarts } from './side-by-side/latency.ts'
import { createArena } from './side-by-side/arena.ts'
import { raceOut } from './side-by-side/races.ts'
import { connectBoth, ours, theirs } from './side-by-side/servers.ts'
import { tryWaysOut } from './side-by-side/ways-out.ts'

const operations = Number(benchArguments[0] ?? byEffort({ full: 2000, short: 500, quick: 20 }))
const reads = Number(benchArguments[1] ?? byEffort({ full: 1000, short: 500, quick: 5 }))
const command = benchCommand('mcp')
const peer = 'server-filesystem'
const started = `ours is started ${ours.kind === 'built' ? 'as built' : 'from its TypeScript source'}`
const arena = createArena()
const sides = await connectBoth(arena)

await attempt('MCP: ways out', publishEscapes)
await attempt('MCP: a read', publishReads)
await sides.close()
await attempt('MCP: start', publishStarts)
arena.remove()
process.exit()

async function publishEscapes(): Promise<void> {
  const mine = await tryWaysOut(sides.mine, arena)
  const other = await tryWaysOut(sides.other, arena)
  const rows = escapeRows(
    `ways out by path and link, of ${mine.tried}`,
    mine.escaped,
    other.escaped,
  )
  for (const kind of ['read', 'write'] as const) {
    const escaped = await raceOut(kind, sides.mine, arena, operations)
    const otherEscaped = await raceOut(kind, sides.other, arena, operations)
    rows.push(...escapeRows(`raced ${kind}s, of ${operations}`, escaped, otherEscaped))
  }
  const missed = publish({
    name: 'mcp-escapes',
    title: 'MCP: operations that leave the root',
    about:
      'Ways out of the root by path and by link, and operations on a directory that another process exchanges with a link all the while. Counted are effects: a secret that was read, a file outside that changed.',
    command,
    rounds: 'Counted',
    unit: 'operations',
    chart: 'median',
    rows,
  })
  if (missed > 0) process.exitCode = 1
}

function escapeRows(job: string, mine: number, other: number): BenchRow[] {
  return [
    benchRow(single(mine), { job, goal: atMost(0, 'median') }),
    benchRow(single(other), { job, subject: peer, isOurs: false }),
  ]
}

async function publishReads(): Promise<void> {
  const [mine, other] = await timeReads(sides.mine, sides.other, reads)
  publish({
    name: 'mcp-read',
    title: 'MCP: a read',
    about:
      'A read of 1 KB over stdio by the same client. Ours writes a row to SQLite before and after; the other keeps no log.',
    command,
    rounds: `Medians of ${reads} rounds`,
    unit: 'ms',
    chart: 'ratio',
    rows: [
      benchRow(figureOf(mine), {
        job: 'read of 1 KB',
        beside: { name: peer, ...figureOf(other) },
        goal: atMost(1.3),
      }),
    ],
  })
}

async function publishStarts(): Promise<void> {
  const [mine, other] = await timeStarts([ours, theirs], arena)
  publish({
    name: 'mcp-start',
    title: 'MCP: start of the server',
    about: `From the start of the process to the answer of the handshake; ${started}.`,
    command,
    rounds: 'Medians of 9 rounds',
    unit: 'ms',
    chart: 'median',
    rows: [
      benchRow(figureOf(mine ?? []), { job: 'start', goal: atMost(400, 'median') }),
      benchRow(figureOf(other ?? []), { job: 'start', subject: peer, isOurs: false }),
    ],
  })
}
