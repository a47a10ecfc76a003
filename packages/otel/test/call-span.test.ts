import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { openTelemetry } from '@smithers/otel'
import { defineTool } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, chargeTool } from './fixtures/shop-tools.ts'
import { log, runOf, stopWatching, watching, watchingWithoutSdk } from './fixtures/watched-runs.ts'

describe('the span of a call', () => {
  test('says which call it is, and agrees with the row', async () => {
    const recorder = watching()
    const run = runOf({ nodeId: 'billing', iteration: 2, attempt: 3 })
    await run.tools({ charge: chargeTool() }).charge.execute({ amount: 5 }, call('model-1'))
    const span = recorder.span('execute_tool charge')
    const [row] = log.list({ runId: run.context.runId })
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'charge',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'model-1',
      'smithers.run.id': run.context.runId,
      'smithers.task.id': 'billing',
      'smithers.task.iteration': 2,
      'smithers.task.attempt': 3,
      'smithers.call.seq': row?.seq,
      'smithers.call.token': row?.callToken,
      'smithers.call.idempotency_key': row?.idempotencyKey,
      'smithers.call.outcome': 'success',
      'smithers.call.effect': 'applied',
      'smithers.call.output_bytes': Buffer.byteLength(row?.outputJson ?? ''),
      'smithers.tool.side_effect': true,
      'smithers.tool.idempotent': false,
    })
    expect(row).toMatchObject({
      traceId: span.spanContext().traceId,
      spanId: span.spanContext().spanId,
    })
    expect(span.status.code).toBe(SpanStatusCode.UNSET)
    expect(span.events.map(({ name }) => name)).toEqual(['smithers.call.started'])
  })

  test('has neither arguments nor outputs, unless it is asked for what the log holds', async () => {
    const secret = { amount: 5, apiKey: 'sk-live-0123456789abcdef' }
    const pay = defineTool({
      name: 'pay',
      schema: z.object({ amount: z.number(), apiKey: z.string() }),
      execute: async () => 'paid',
    })
    const without = watching()
    await runOf().tools({ pay }).pay.execute(secret, call())
    expect(JSON.stringify(without.span('execute_tool pay').attributes)).not.toMatch(/sk-live|paid/)
    stopWatching()

    const recorder = watching({ recordInputs: true, recordOutputs: true })
    const run = runOf()
    await run.tools({ pay }).pay.execute(secret, call())
    const [row] = log.list({ runId: run.context.runId })
    const { attributes } = recorder.span('execute_tool pay')
    expect(attributes['gen_ai.tool.call.arguments']).toBe(row?.inputJson)
    expect(attributes['gen_ai.tool.call.result']).toBe(row?.outputJson)
    expect(JSON.stringify(attributes)).not.toContain('sk-live')
  })

  test('is the active one while the tool runs, and the parent of what the tool traces', async () => {
    const recorder = watching()
    const inner = chargeTool(async () => {
      await new Promise(setImmediate)
      trace.getTracer('shop').startSpan('ask the bank').end()
    })
    await runOf().tools({ charge: inner }).charge.execute({ amount: 1 }, call())
    const parent = recorder.span('execute_tool charge').spanContext().spanId
    expect(recorder.span('ask the bank').parentSpanContext?.spanId).toBe(parent)
  })

  test('has the right parent for each of forty calls at once', async () => {
    const recorder = watching()
    const tracer = trace.getTracer('shop')
    const { charge } = runOf().tools({
      charge: chargeTool(async (amount) => {
        await new Promise((resolve) => setTimeout(resolve, amount % 7))
        tracer.startSpan(`bank ${amount}`).end()
      }),
    })
    const amounts = Array.from({ length: 40 }, (_, index) => index)
    await Promise.all(
      amounts.map((amount) => {
        const request = tracer.startSpan(`request ${amount}`)
        return context.with(trace.setSpan(context.active(), request), async () => {
          await charge.execute({ amount }, call(`model-${amount}`))
          request.end()
        })
      }),
    )
    const calls = new Map(
      recorder
        .spans()
        .filter(({ name }) => name === 'execute_tool charge')
        .map((span) => [span.attributes['gen_ai.tool.call.id'], span]),
    )
    expect(calls.size).toBe(40)
    for (const amount of amounts) {
      const span = calls.get(`model-${amount}`)
      const request = recorder.span(`request ${amount}`).spanContext().spanId
      expect(span?.parentSpanContext?.spanId).toBe(request)
      const bank = recorder.span(`bank ${amount}`).parentSpanContext?.spanId
      expect(bank).toBe(span?.spanContext().spanId)
    }
  })
})

describe('without an SDK', () => {
  test('nothing is shown, and rows have no trace', async () => {
    watchingWithoutSdk()
    const run = runOf()
    await run.tools({ charge: chargeTool() }).charge.execute({ amount: 1 }, call())
    const [row] = log.list({ runId: run.context.runId })
    expect(row).toMatchObject({ status: 'success', traceId: null, spanId: null })
  })

  test('a run can be left out, or have telemetry of its own', async () => {
    const recorder = watching()
    await runOf({ telemetry: false })
      .tools({ charge: chargeTool() })
      .charge.execute({ amount: 1 }, call())
    expect(recorder.spans()).toEqual([])
    const own = openTelemetry({ recordInputs: true })
    await runOf({ telemetry: own })
      .tools({ charge: chargeTool() })
      .charge.execute({ amount: 1 }, call())
    expect(recorder.span('execute_tool charge').attributes['gen_ai.tool.call.arguments']).toBe(
      '{"amount":1}',
    )
  })
})

describe('options', () => {
  test('that do not exist, or are nearly right, are refused', () => {
    expect(() => openTelemetry({ recordInput: true } as never)).toThrow(/no option "recordInput"/)
    expect(() => openTelemetry({ recordOutputs: 'false' } as never)).toThrow(/true or false/)
  })
})
