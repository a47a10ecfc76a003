import {
  createToolContext,
  defineTool,
  runWithToolContext,
  type ToolContext,
} from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'

const schema = z.object({ sku: z.string() })

describe('defineTool', () => {
  test('makes a plain AI SDK tool whose description is its name', () => {
    const order = defineTool({ name: 'shop.order', schema, execute: () => 'ok' })
    expect(order.description).toBe('shop.order')
    expect(order.inputSchema).toBe(schema)
  })

  test('hands the fields of the AI SDK on and keeps its own to itself', () => {
    const toModelOutput = (): { type: 'text'; value: string } => ({
      type: 'text',
      value: 'shown',
    })
    const order = defineTool({
      name: 'order',
      description: 'Places an order',
      schema,
      strict: true,
      toModelOutput,
      metadata: { source: 'shop' },
      key: 'task',
      timeoutMs: 5,
      execute: () => 'ok',
    })
    expect(Object.keys(order).toSorted()).toEqual([
      'description',
      'execute',
      'inputSchema',
      'metadata',
      'strict',
      'toModelOutput',
    ])
    expect(order).toMatchObject({ strict: true, description: 'Places an order' })
    const { toModelOutput: shown } = order as unknown as { toModelOutput: typeof toModelOutput }
    expect(shown()).toEqual({ type: 'text', value: 'shown' })
  })

  test('validates the input of a direct call before execute runs', async () => {
    const execute = vi.fn<() => string>(() => 'ok')
    const order = defineTool({ name: 'order', schema, execute })
    await expect(order.execute({ sku: 7 } as never, callOptions())).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('sku: ') as string,
      effect: 'none',
    })
    expect(execute).not.toHaveBeenCalled()
  })

  test('gives execute the parsed input, with defaults', async () => {
    const order = defineTool({
      name: 'order',
      schema: z.object({ count: z.number().default(3) }),
      execute: ({ count }) => count,
    })
    expect(await order.execute({} as never, callOptions())).toBe(3)
  })

  test('parses a transformed input once when the AI SDK has parsed it', async () => {
    const seen: unknown[] = []
    const remind = defineTool({
      name: 'remind',
      schema: z.object({ at: z.string().transform((text) => new Date(text)) }).describe('When'),
      execute: ({ at }) => {
        seen.push(at)
        return 'ok'
      },
    })
    const parsed = await z.safeParseAsync(remind.inputSchema, { at: '2026-01-01T00:00:00Z' })
    await remind.execute(parsed.data as never, callOptions())
    await remind.execute({ at: '2026-01-02T00:00:00Z' } as never, callOptions())
    expect(seen).toEqual([new Date('2026-01-01T00:00:00Z'), new Date('2026-01-02T00:00:00Z')])
    expect(z.toJSONSchema(remind.inputSchema, { io: 'input' })).toMatchObject({
      description: 'When',
      properties: { at: { type: 'string' } },
    })
  })

  test('awaits a schema that validates later', async () => {
    const order = defineTool({
      name: 'order',
      schema: z.object({ sku: z.string().refine(async (sku) => sku === 'a') }),
      execute: ({ sku }) => sku,
    })
    expect(await order.execute({ sku: 'a' }, callOptions())).toBe('a')
    await expect(order.execute({ sku: 'b' }, callOptions())).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('puts everything that the AI SDK hands over on the context, frozen', async () => {
    let seen: ToolContext | undefined
    const order = defineTool({
      name: 'shop.order',
      schema,
      sideEffect: true,
      execute: (_args, ctx) => {
        seen = ctx
        return 'ok'
      },
    })
    const { signal } = new AbortController()
    const messages = [{ role: 'user', content: 'hi' }]
    const sandbox = {}
    const context = createToolContext({ runId: 'run', nodeId: 'node', iteration: 2, attempt: 3 })
    await runWithToolContext(context, () =>
      order.execute(
        { sku: 'a' },
        {
          toolCallId: 'call-1',
          messages,
          abortSignal: signal,
          context: { tenant: 1 },
          experimental_sandbox: sandbox,
        },
      ),
    )
    expect(seen).toMatchObject({
      runId: 'run',
      nodeId: 'node',
      iteration: 2,
      attempt: 3,
      seq: 1,
      occurrence: 0,
      toolName: 'shop.order',
      sideEffect: true,
      idempotent: false,
      toolCallId: 'call-1',
      context: { tenant: 1 },
      taskIdempotencyKey: 'smithers:run:node:2',
      rootDir: process.cwd(),
      allowNetwork: false,
      maxOutputBytes: 200_000,
      timeoutMs: 60_000,
      ephemeral: false,
    })
    expect(seen?.messages).toBe(messages)
    expect(seen?.experimental_sandbox).toBe(sandbox)
    expect(Object.isFrozen(seen)).toBe(true)
  })

  test('aborts ctx.abortSignal when the agent aborts', async () => {
    const agent = new AbortController()
    const started = deferred()
    const wait = defineTool({
      name: 'wait',
      schema: z.object({}),
      execute: (_args, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error))
          started.resolve()
        }),
    })
    const call = wait.execute({}, { ...callOptions(), abortSignal: agent.signal })
    await started.promise
    agent.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })

  test('fails with the same error that execute threw', async () => {
    const thrown = new TypeError('no')
    const broken = defineTool({
      name: 'broken',
      schema: z.object({}),
      execute: () => {
        throw thrown
      },
    })
    await expect(broken.execute({}, callOptions())).rejects.toBe(thrown)
  })

  test.each([
    ['an empty name', { name: ' ', schema }],
    ['a schema that is not Zod 4', { name: 'a', schema: { parse: () => ({}) } }],
    ['a misspelt option', { name: 'a', schema, sideEffects: true }],
    ['a flag that is text', { name: 'a', schema, sideEffect: 'false' }],
    ['a time limit of zero', { name: 'a', schema, timeoutMs: 0 }],
    ['an unknown retry mode', { name: 'a', schema, onRetry: 'replay' }],
  ])('refuses %s', (_what, options) => {
    expect(() => defineTool({ ...options, execute: () => 1 } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
  })
})
