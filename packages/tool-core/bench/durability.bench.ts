/**
 * What durability costs a call, apart from the log: the key, the whole of `defineTool` over a plain AI SDK tool, and
 * the same without an ambient run. Prints medians; run it twice on a busy machine.
 */
import { createToolRun, defineTool, type ToolCallOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { tool } from 'ai'
import { z } from 'zod'
import { hashInput, idempotencyKey } from '../src/history/call-identity.ts'

const rounds = 60
const callsPerRound = 500

/** Times of one call in microseconds: the median round, and the quietest. */
interface Timing {
  readonly median: number
  readonly best: number
}

async function timeOf(work: () => unknown, prepareRound: () => void = () => {}): Promise<Timing> {
  const means: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    prepareRound()
    const startedAt = performance.now()
    for (let call = 0; call < callsPerRound; call += 1) await work()
    means.push(((performance.now() - startedAt) * 1000) / callsPerRound)
  }
  const [best = Number.NaN, ...others] = means.toSorted((a, b) => a - b)
  return { best, median: others[Math.floor(others.length / 2)] ?? best }
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

const rows: [string, Timing, string][] = []
for (const bytes of [60, 1000, 10_000]) {
  const value = argsOf(bytes)
  const limit = bytes === 1000 ? '≤ 10' : ''
  rows.push([`key of ${bytes} B of arguments`, await timeOf(() => keyOf(value)), limit])
}
const plainOptions = { toolCallId: 'call_1', messages: [], context: {} }
const base = await timeOf(() => plain.execute?.(args, plainOptions))
rows.push(['plain AI SDK tool', base, ''])
const fresh = (): typeof args => ({ ...args, n: (nextN += 1) })
for (const [name, work, limit] of [
  ['read, memory log', () => bound.read.execute(fresh(), options), '≤ 15'],
  ['side effect, memory log', () => bound.charge.execute(fresh(), options), '≤ 15'],
  ['read, outside a run', () => read.execute(fresh(), options), ''],
] as const) {
  const { median, best } = await timeOf(work, newRun)
  const over = { median: median - base.median, best: best - base.best }
  rows.push([`${name}: over the plain tool`, over, limit])
}

console.log(`durability, core: ${rounds} rounds of ${callsPerRound} calls, microseconds a call\n`)
console.log(`${''.padEnd(44)} ${'median'.padStart(8)} ${'best'.padStart(8)}  limit`)
for (const [name, { median, best }, limit] of rows) {
  const figures = [median, best].map((figure) => figure.toFixed(2).padStart(8)).join(' ')
  console.log(`${name.padEnd(44)} ${figures}  ${limit}`)
}
