import { OpenTelemetry } from '@ai-sdk/otel'
import { trace } from '@opentelemetry/api'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun } from '@smithers/tool-core'
import { generateText, stepCountIs } from 'ai'
import { trace as olderTrace } from 'opentelemetry-api-old'
import { expect, test } from 'vitest'
import { scriptedModel } from '../../tool-core/test/fixtures/scripted-model.ts'
import { call, chargeTool } from './fixtures/shop-tools.ts'
import { watching } from './fixtures/watched-runs.ts'

const twoCharges = [
  { id: 'model-1', tool: 'charge', input: { amount: 1 } },
  { id: 'model-2', tool: 'charge', input: { amount: 2 } },
]

async function chargeTwice(log: ReturnType<typeof createMemoryLog>, ownSpans: boolean) {
  const run = createToolRun({ runId: 'shop', log })
  const charge = chargeTool(async () => {
    await new Promise(setImmediate)
    trace.getTracer('shop').startSpan('ask the bank').end()
  })
  await generateText({
    model: scriptedModel([twoCharges]),
    tools: run.tools({ charge }),
    prompt: 'Charge twice.',
    stopWhen: stepCountIs(2),
    ...(ownSpans && { telemetry: { integrations: [new OpenTelemetry()] } }),
  })
}

test('with @ai-sdk/otel, each call has one span, that of the AI SDK, with our attributes', async () => {
  const recorder = watching()
  const log = createMemoryLog()
  await chargeTwice(log, true)
  const calls = recorder.spans().filter(({ name }) => name === 'execute_tool charge')
  expect(calls.map(({ attributes }) => attributes['gen_ai.tool.call.id'])).toEqual([
    'model-1',
    'model-2',
  ])
  const rows = log.list({ runId: 'shop' })
  for (const [index, span] of calls.entries()) {
    expect(span.instrumentationScope.name).not.toBe('@smithers/otel')
    expect(span.attributes).toMatchObject({
      'smithers.run.id': 'shop',
      'smithers.call.token': rows[index]?.callToken,
      'smithers.call.outcome': 'success',
    })
    expect(rows[index]?.spanId).toBe(span.spanContext().spanId)
    const parent = recorder
      .spans()
      .find((each) => each.spanContext().spanId === span.parentSpanContext?.spanId)
    expect(parent?.name).toMatch(/invoke_agent|step/)
  }
  const parents = recorder
    .spans()
    .filter(({ name }) => name === 'ask the bank')
    .map(({ parentSpanContext }) => parentSpanContext?.spanId)
  expect(parents).toEqual(calls.map((span) => span.spanContext().spanId))
})

test('without @ai-sdk/otel, each call has one span of ours', async () => {
  const recorder = watching()
  const log = createMemoryLog()
  await chargeTwice(log, false)
  const calls = recorder.spans().filter(({ name }) => name === 'execute_tool charge')
  expect(calls.map(({ instrumentationScope }) => instrumentationScope.name)).toEqual([
    '@smithers/otel',
    '@smithers/otel',
  ])
})

test('finds the span that an older copy of the API made active', async () => {
  const recorder = watching()
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'copies', log })
  const { charge } = run.tools({ charge: chargeTool() })
  // The older copy finds the SDK that the newer one registered.
  await olderTrace.getTracer('older').startActiveSpan('request', async (request) => {
    await charge.execute({ amount: 1 }, call())
    request.end()
  })
  const request = recorder.span('request').spanContext().spanId
  expect(recorder.span('execute_tool charge').parentSpanContext?.spanId).toBe(request)
})
