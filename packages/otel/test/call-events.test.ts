import { SpanStatusCode } from '@opentelemetry/api'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, chargeTool } from './fixtures/shop-tools.ts'
import { log, runOf, watching } from './fixtures/watched-runs.ts'

describe('events and links of a call', () => {
  test('follows an approval from its request to its decision', async () => {
    const recorder = watching()
    const asked = defineTool({
      name: 'refund',
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      needsApproval: true,
      execute: async () => 'refunded',
    })
    const waiting = runOf()
    const { runId } = waiting.context
    await expect(
      waiting.tools({ asked }).asked.execute({ amount: 3 }, call('ask')),
    ).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
    const first = recorder.span('execute_tool refund')
    expect(first.attributes).toMatchObject({
      'smithers.call.outcome': 'waiting',
      'error.type': 'TOOL_APPROVAL_REQUIRED',
    })
    expect(first.status.code).toBe(SpanStatusCode.UNSET)
    expect(first.events.map(({ name }) => name)).toContain('smithers.call.approval_requested')

    const [approval] = await log.approvals.list({ runId })
    await log.approvals.update(approval?.id ?? '', 'pending', {
      status: 'approved',
      decidedBy: 'ops@example.com',
      decidedAtMs: (approval?.requestedAtMs ?? 0) + 1500,
    })
    const again = createToolRun({ runId, log, attempt: 2 })
    await again.tools({ asked }).asked.execute({ amount: 3 }, call('ask'))
    const second = recorder.spans().findLast(({ name }) => name === 'execute_tool refund')
    const decided = second?.events.find(({ name }) => name === 'smithers.call.approval_decided')
    expect(decided?.attributes).toEqual({
      'smithers.approval.id': approval?.id,
      'smithers.approval.approved': true,
      'smithers.approval.decided_by': 'ops@example.com',
      'smithers.approval.wait': 1.5,
    })
    expect(await recorder.points('smithers.approval.wait')).toMatchObject([
      { value: { count: 1, sum: 1.5 } },
    ])
  })

  test('links a repeated call to the span of the earlier attempt', async () => {
    const recorder = watching()
    const first = runOf()
    const { runId } = first.context
    const failing = chargeTool(() => {
      throw new Error('The line broke.')
    })
    await first
      .tools({ charge: failing })
      .charge.execute({ amount: 9 }, call())
      .catch(() => undefined)
    const earlier = recorder.span('execute_tool charge').spanContext()
    const second = createToolRun({ runId, log, attempt: 2 })
    await second.tools({ charge: chargeTool() }).charge.execute({ amount: 9 }, call())
    const span = recorder.spans().at(-1)
    expect(span?.links.map((link) => link.context.spanId)).toEqual([earlier.spanId])
    expect(span?.links[0]?.context.traceId).toBe(earlier.traceId)
  })

  test('tells replayed and cached answers apart from executions', async () => {
    const recorder = watching()
    let executed = 0
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      onRetry: 'reuse',
      execute: async () => `charge ${(executed += 1)}`,
    })
    const rate = defineTool({
      name: 'rate',
      schema: z.object({ of: z.string() }),
      cache: { ttlMs: 60_000 },
      execute: async () => `rate ${(executed += 1)}`,
    })
    const first = runOf()
    const { runId } = first.context
    const tools = first.tools({ charge, rate })
    await tools.charge.execute({ amount: 1 }, call())
    await tools.rate.execute({ of: 'EUR' }, call())
    await tools.rate.execute({ of: 'EUR' }, call())
    const second = createToolRun({ runId, log, attempt: 2 })
    await second.tools({ charge }).charge.execute({ amount: 1 }, call())
    const outcomes = recorder.spans().map(({ attributes }) => attributes['smithers.call.outcome'])
    expect(outcomes).toEqual(['success', 'success', 'cached', 'replayed'])
    expect(executed).toBe(2)
    const [original] = log.list({ runId, toolName: 'charge', limit: 1 })
    expect(recorder.spans().at(-1)?.attributes['smithers.call.replay_of']).toBe(original?.callToken)
  })

  test('tells each further try, and what a tool answers about an earlier call', async () => {
    const recorder = watching()
    let tries = 0
    const flaky = defineTool({
      name: 'flaky',
      schema: z.object({}),
      retry: { maxRetries: 2, backoffMs: 2 },
      execute: async () => {
        tries += 1
        if (tries < 3) throw new Error('busy')
        return 'done'
      },
    })
    await runOf().tools({ flaky }).flaky.execute({}, call())
    const events = recorder.span('execute_tool flaky').events
    const retries = events.filter(({ name }) => name === 'smithers.call.retry')
    expect(retries.map(({ attributes }) => attributes?.['smithers.retry.tries'])).toEqual([1, 2])
    expect(await recorder.points('smithers.tool.retries')).toMatchObject([{ value: 2 }])

    const checked = defineTool({
      name: 'checked',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      verify: async () => ({ happened: true as const, output: 'it did' }),
      execute: async (): Promise<string> => {
        throw new Error('The line broke.')
      },
    })
    const first = runOf()
    await first
      .tools({ checked })
      .checked.execute({}, call())
      .catch(() => undefined)
    const second = createToolRun({ runId: first.context.runId, log, attempt: 2 })
    await second.tools({ checked }).checked.execute({}, call())
    const verified = recorder.spans().at(-1)
    const answer = verified?.events.find(({ name }) => name === 'smithers.call.verify')
    expect(answer?.attributes).toEqual({ 'smithers.verify.answer': 'happened' })
    expect(verified?.attributes['smithers.call.outcome']).toBe('replayed')
  })

  test('tells that a call waited for the one that held its key', async () => {
    const recorder = watching()
    const { promise: first, resolve: release } = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      key: ({ amount }) => `order-${amount}`,
      execute: async () => {
        entered.resolve()
        await first
        return 'charged'
      },
    })
    const one = runOf()
    const { runId } = one.context
    const running = one.tools({ charge }).charge.execute({ amount: 1 }, call())
    await entered.promise
    const waits = Promise.withResolvers<void>()
    const watched: ToolCallLog = {
      ...log,
      list: (query) => {
        // It looks at the call that holds the key, again and again.
        if (query.callToken !== undefined) waits.resolve()
        return log.list(query)
      },
    }
    const two = createToolRun({ runId, log: watched, attempt: 1 })
    const second = two.tools({ charge }).charge.execute({ amount: 1 }, call())
    await waits.promise
    release()
    await Promise.allSettled([running, second])
    const waited = recorder
      .spans()
      .flatMap(({ events }) => events)
      .find(({ name }) => name === 'smithers.call.claim_wait')
    expect(waited?.attributes?.['smithers.claim.wait']).toBeGreaterThan(0)
    expect(await recorder.points('smithers.claim.wait')).toMatchObject([{ value: { count: 1 } }])
  })

  test('tells that another worker had taken the call over', async () => {
    const recorder = watching()
    const run = runOf()
    const charge = chargeTool(async () => {
      const [row] = log.list({ runId: run.context.runId })
      log.finish(row?.callToken ?? '', {
        status: 'error',
        outputJson: null,
        errorJson: null,
        effect: 'unknown',
        finishedAtMs: Date.now(),
      })
    })
    await expect(run.tools({ charge }).charge.execute({ amount: 1 }, call())).rejects.toMatchObject(
      { code: 'TOOL_CALL_FENCED' },
    )
    const { attributes, status, events } = recorder.span('execute_tool charge')
    expect(attributes['smithers.call.outcome']).toBe('fenced')
    expect(status.code).toBe(SpanStatusCode.ERROR)
    expect(events.map(({ name }) => name)).toContain('smithers.call.fenced')
  })
})
