/**
 * What durability costs a call, apart from the log: the key, the whole of `defineTool` over a plain AI SDK tool, and
 * the same without an ambient run.
 */
import { createToolRun, defineTool, type ToolCallOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { tool } from 'ai'
import { z } from 'zod'
import { benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import {
  atMost,
  type BenchRow,
  benchRow,
  type Figure,
  figureOf,
} from '../../../scripts/bench/result.ts'
import { hashInput, idempotencyKey } from '../src/history/call-identity.ts'

const rounds = byEffort({ full: 60, short: 40, quick: 3 })
const callsPerRound = byEffort({ full: 500, short: 300, quick: 10 })

/** Microseconds of one call in the rounds after the first. */
async function timeOf(work: () => unknown, prepareRound: () => void = () => {}): Promise<Figure> {
  const means: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    prepareRound()
    const startedAt = performance.now()
    for (let call = 0; call < callsPerRound; call += 1) await work()
    if (round > 0) means.push(((performance.now() - startedAt) * 1000) / callsPerRound)
  }
  return figureOf(means)
}

function argsOf(bytes: number): { text: string; n: number; tags: string[] } {
  const args = { text: '', n: 1, tags: ['a', 'b'] }
  args.text = 'x'.repeat(bytes - JSON.stringify(args).length)
  return args
}

function keyOf(args: unknown): string {
  return idempotencyKey(
    {
      namespace: '',
      runId: 'run-1',
      nodeId: 'task',
      iteration: 0,
      toolName: 'charge',
      subject: hashInput(args),
    },
    0,
  )
}

const schema = z.object({ text: z.string(), n: z.number(), tags: z.array(z.string()) })
const plain = tool({
  inputSchema: schema,
  execute: async ({ n }: z.output<typeof schema>) => ({ ok: true, n }),
})
const read = defineTool({ name: 'read', schema, execute: async ({ n }) => ({ ok: true, n }) })
const charge = defineTool({
  name: 'charge',
  schema,
  sideEffect: true,
  idempotent: false,
  execute: async ({ n }, ctx) => ({ ok: ctx.idempotencyKey !== '', n }),
})
const options: ToolCallOptions = { toolCallId: 'call_1', messages: [] }
const args = argsOf(300)
let nextN = 0
let nextRun = 0
let bound = { read, charge }
/** Every round is a run of its own with a log of its own, as long as a long agent's. */
function newRun(): void {
  const log = createMemoryLog()
  bound = createToolRun({ runId: `run-${(nextRun += 1)}`, log }).tools({ read, charge })
}

const rows: BenchRow[] = []
for (const bytes of [60, 1000, 10_000]) {
  const value = argsOf(bytes)
  rows.push(
    benchRow(await timeOf(() => keyOf(value)), {
      job: `key of ${bytes} B of arguments`,
      goal: bytes === 1000 ? atMost(10, 'median') : undefined,
    }),
  )
}
const plainOptions = { toolCallId: 'call_1', messages: [], context: {} }
const beside = {
  name: 'plain AI SDK tool',
  ...(await timeOf(() => plain.execute?.(args, plainOptions))),
}
const fresh = (): typeof args => ({ ...args, n: (nextN += 1) })
for (const [job, work, limit] of [
  ['a read, log in memory', () => bound.read.execute(fresh(), options), 15],
  ['a side effect, log in memory', () => bound.charge.execute(fresh(), options), 15],
  ['a read outside a run', () => read.execute(fresh(), options), null],
] as const) {
  const goal = limit === null ? undefined : atMost(limit, 'difference')
  rows.push(benchRow(await timeOf(work, newRun), { job, beside, goal, ratio: null }))
}
publish({
  name: 'core-call',
  title: 'A call apart from its log',
  about:
    'The key of a call, and a whole call of a tool that does nothing with 300 B of arguments, beside the same tool made by `tool` of the AI SDK.',
  command: benchCommand('durability'),
  rounds: `Medians of ${rounds} rounds of ${callsPerRound} calls`,
  unit: 'µs',
  chart: 'median',
  rows,
})
