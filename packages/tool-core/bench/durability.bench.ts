/**
 * What durability costs a call, apart from the log: the key, the whole of `defineTool` over a plain AI SDK tool, and
 * the same without an ambient run. Prints medians; run it twice on a busy machine.
 */
import { createToolRun, defineTool, type ToolCallOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { tool } from 'ai'
import { z } from 'zod'
import { hashInput, idempotencyKey } from '../src/idempotency-key.ts'

const rounds = 60
const callsPerRound = 500

/** Median over rounds of the mean time of one call, in microseconds. */
async function medianMicroseconds(
  work: () => unknown,
  prepareRound: () => void = () => {},
): Promise<number> {
  const means: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    prepareRound()
    const startedAt = performance.now()
    for (let call = 0; call < callsPerRound; call += 1) await work()
    means.push(((performance.now() - startedAt) * 1000) / callsPerRound)
  }
  return means.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN
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
const log = createMemoryLog()
let nextRun = 0
let bound = { read, charge }
/** Every round is a run of its own, as long as a long agent's. */
function newRun(): void {
  bound = createToolRun({ runId: `run-${(nextRun += 1)}`, log }).tools({ read, charge })
}

const rows: [string, number, string][] = []
for (const bytes of [60, 1000, 10_000]) {
  const value = argsOf(bytes)
  const limit = bytes === 1000 ? '≤ 10' : ''
  rows.push([`key of ${bytes} B of arguments`, await medianMicroseconds(() => keyOf(value)), limit])
}
const base = await medianMicroseconds(() =>
  plain.execute?.(args, { toolCallId: 'call_1', messages: [], context: {} }),
)
rows.push(['plain AI SDK tool, execute', base, ''])
const fresh = (): typeof args => ({ ...args, n: (nextN += 1) })
for (const [name, work, limit] of [
  ['defineTool, memory log: read', () => bound.read.execute(fresh(), options), '≤ 15 over plain'],
  [
    'defineTool, memory log: side effect',
    () => bound.charge.execute(fresh(), options),
    '≤ 15 over plain',
  ],
  ['defineTool, outside a run', () => read.execute(fresh(), options), ''],
] as const) {
  const median = await medianMicroseconds(work, newRun)
  rows.push([name, median, limit], [`  over plain`, median - base, ''])
}

console.log(`durability, core: median of ${rounds} rounds of ${callsPerRound} calls\n`)
for (const [name, median, limit] of rows) {
  console.log(`${name.padEnd(40)} ${median.toFixed(2).padStart(9)} µs  ${limit}`)
}
