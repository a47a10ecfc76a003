import { SpanStatusCode } from '@opentelemetry/api'
import { defineTool, SmithersError } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, chargeTool } from './fixtures/shop-tools.ts'
import { runOf, watching } from './fixtures/watched-runs.ts'

describe('the outcome of a call', () => {
  test('tells a failure as an error with its code', async () => {
    const recorder = watching()
    const charge = chargeTool(() => {
      throw new SmithersError('TOOL_FAILED', 'The card was declined.', { effect: 'none' })
    })
    await expect(
      runOf().tools({ charge }).charge.execute({ amount: 1 }, call()),
    ).rejects.toMatchObject({ code: 'TOOL_FAILED' })
    const { attributes, status } = recorder.span('execute_tool charge')
    expect(attributes).toMatchObject({
      'smithers.call.outcome': 'error',
      'smithers.call.effect': 'none',
      'error.type': 'TOOL_FAILED',
    })
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'TOOL_FAILED' })
  })

  test('tells a call that was cut off as unknown, with an event', async () => {
    const recorder = watching()
    const slow = defineTool({
      name: 'slow',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      timeoutMs: 20,
      execute: () => new Promise<string>(() => {}),
    })
    const tools = runOf().tools({ slow })
    await expect(tools.slow.execute({}, call())).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
    const { attributes, status, events } = recorder.span('execute_tool slow')
    expect(attributes).toMatchObject({
      'smithers.call.outcome': 'unknown',
      'smithers.call.effect': 'unknown',
      'error.type': 'TOOL_TIMEOUT',
    })
    expect(status.code).toBe(SpanStatusCode.ERROR)
    expect(events.map(({ name }) => name)).toContain('smithers.call.unknown')
  })

  test('tells a refused call without an error status', async () => {
    const recorder = watching()
    await expect(
      runOf()
        .tools({ charge: chargeTool() })
        .charge.execute({ amount: 'all' } as never, call()),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const { attributes, status } = recorder.span('execute_tool charge')
    expect(attributes).toMatchObject({
      'smithers.call.outcome': 'refused',
      'error.type': 'INVALID_INPUT',
    })
    expect(status.code).toBe(SpanStatusCode.UNSET)
  })
})
