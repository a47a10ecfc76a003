/**
 * What the gates of a tool cost a call: `pnpm bench gates`. "idle" means that every gate is there and none has anything
 * to do: no approval is needed, the limit is far, the cache never hits, nothing has failed. Rounds alternate between the
 * tools, so that a busy machine slows all alike; the figures are the rounds' lower quartiles, in
 * processor time of the thread, so that what else runs on the machine counts little.
 */
import { createToolRun, defineTool, type GateOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { z } from 'zod'

const schema = z.object({ n: z.number() })
const far = 1_000_000_000
const retry = { maxRetries: 3, circuitBreakerThreshold: 5 }

const variants: readonly (readonly [name: string, gates: GateOptions<{ n: number }>])[] = [
  ['no gates', {}],
  ['maxExecutionsPerRun', { maxExecutionsPerRun: far }],
  ['needsApproval says no', { needsApproval: () => false }],
  ['retry', { retry: { maxRetries: 3 } }],
  ['circuit breaker', { retry: { circuitBreakerThreshold: 5 } }],
  ['cache, never a hit', { cache: true }],
  [
    'all of them, idle',
    { maxExecutionsPerRun: far, needsApproval: () => false, retry, cache: true },
  ],
]

const callsPerRound = 2000
const rounds = 40
let n = 0

async function round(gates: GateOptions<{ n: number }>): Promise<number> {
  const tool = defineTool({ name: 'bench', schema, ...gates, execute: ({ n: given }) => given })
  const run = createToolRun({ runId: `bench_${n}`, log: createMemoryLog({ maxRows: 100 }) })
  const { bench } = run.tools({ bench: tool })
  const before = process.threadCpuUsage()
  for (let call = 0; call < callsPerRound; call += 1) {
    n += 1
    await bench.execute({ n }, { toolCallId: `call_${n}`, messages: [] })
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / callsPerRound
}

const figures = new Map(variants.map(([name]) => [name, [] as number[]]))
for (let index = 0; index < rounds; index += 1) {
  // Each variant comes first in turn.
  const order = [
    ...variants.slice(index % variants.length),
    ...variants.slice(0, index % variants.length),
  ]
  for (const [name, gates] of order) {
    const microseconds = await round(gates)
    // The first rounds warm up.
    if (index >= 5) figures.get(name)?.push(microseconds)
  }
}

// The lower quartile: what else runs on the machine only ever adds.
const typical = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0
const base = typical(figures.get('no gates') ?? [])
console.log(
  'gate'.padEnd(24),
  'µs a call'.padStart(10),
  'added µs'.padStart(10),
  'ratio'.padStart(7),
)
for (const [name, values] of figures) {
  const cost = typical(values)
  const columns = [
    cost.toFixed(1).padStart(10),
    (cost - base).toFixed(1).padStart(10),
    (cost / base).toFixed(2).padStart(7),
  ]
  console.log(name.padEnd(24), ...columns)
}
