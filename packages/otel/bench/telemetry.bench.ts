/**
 * What telemetry costs a call: a tool that does nothing, in a run with a log in memory, in alternating rounds: nothing
 * registered, `openTelemetry()` without an SDK, and with one that batches spans and exports them to memory.
 * `pnpm bench telemetry`
 */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { openTelemetry } from '@smithers/otel'
import { createToolRun, defineTool, type ToolTelemetry } from '@smithers/tool-core'
import { z } from 'zod'
import { benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import { atMost, benchRow, figureOf } from '../../../scripts/bench/result.ts'

const rounds = byEffort({ full: 80, short: 60, quick: 3 })
const callsPerRound = byEffort({ full: 400, short: 300, quick: 20 })

const exporter = new InMemorySpanExporter()
const noop = defineTool({
  name: 'noop',
  schema: z.object({ n: z.number() }),
  execute: async ({ n }) => n,
})
const telemetry = openTelemetry()

async function round(chosen: ToolTelemetry | false): Promise<number> {
  const run = createToolRun({ runId: crypto.randomUUID(), telemetry: chosen })
  const tools = run.tools({ noop })
  const startedAt = performance.now()
  for (let n = 0; n < callsPerRound; n += 1) {
    await tools.noop.execute({ n }, { toolCallId: `call-${n}`, messages: [] })
  }
  return ((performance.now() - startedAt) * 1000) / callsPerRound
}

const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter })],
})
const times = { none: [] as number[], api: [] as number[], sdk: [] as number[] }
for (let index = -5; index < rounds; index += 1) {
  const none = await round(false)
  const api = await round(telemetry)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  const sdk = await round(telemetry)
  trace.disable()
  context.disable()
  exporter.reset()
  if (index < 0) continue
  times.none.push(none)
  times.api.push(api)
  times.sdk.push(sdk)
}
await provider.shutdown()

const none = { name: 'none', ...figureOf(times.none) }
const job = 'a call'
publish({
  name: 'telemetry',
  title: 'Telemetry of a call',
  about:
    'A tool that does nothing, with a log in memory: without telemetry, with `openTelemetry()` where the program has registered no SDK, and with an SDK that batches spans and exports them to memory.',
  command: benchCommand('telemetry'),
  rounds: `Medians of ${rounds} rounds of ${callsPerRound} calls`,
  unit: 'µs',
  chart: 'median',
  rows: [
    benchRow(none, { job, subject: 'no telemetry' }),
    benchRow(figureOf(times.api), {
      job,
      subject: 'registered, without an SDK',
      beside: none,
      goal: atMost(1, 'difference'),
    }),
    benchRow(figureOf(times.sdk), {
      job,
      subject: 'with an SDK that batches',
      beside: none,
      goal: atMost(20, 'difference'),
    }),
  ],
})
process.exit()
