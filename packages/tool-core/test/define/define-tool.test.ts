import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolContext,
  createToolRun,
  defineTool,
  getDefinedToolMetadata,
  runWithToolContext,
  type ToolContext,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { tool } from 'ai'
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
    const toModelOutput = (): { type: 'text'; value: string } => ({ type: 'text', value: '' })
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
    expect(order).toMatchObject({ toModelOutput, strict: true, description: 'Places an order' })
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

  test('streams the values of an async generator, with the start recorded before the first', async () => {
    const log = createMemoryLog()
    const statuses: string[] = []
    const count = defineTool({
      name: 'count',
      schema: z.object({ to: z.number() }),
      async *execute({ to }, ctx) {
        for (let n = 1; n <= to; n += 1) {
          statuses.push(...log.list({ runId: ctx.runId }).map(({ status }) => status))
          yield n
        }
      },
    })
    const { tools } = createToolRun({ runId: 'r', log })
    const values: number[] = []
    for await (const value of tools({ count }).count.execute({ to: 3 }, callOptions())) {
      values.push(value)
    }
    expect(values).toEqual([1, 2, 3])
    expect(statuses).toEqual(['started', 'started', 'started'])
    expect(log.snapshot()).toMatchObject([{ status: 'success', outputJson: '3' }])
  })

  test('records a stream that its consumer abandoned as interrupted, and closes the generator', async () => {
    const log = createMemoryLog()
    const closed = deferred()
    const count = defineTool({
      name: 'count',
      schema: z.object({}),
      sideEffect: true,
      async *execute(_args, _ctx) {
        try {
          for (let n = 1; ; n += 1) yield n
        } finally {
          closed.resolve()
        }
      },
    })
    for await (const value of createToolRun({ log })
      .tools({ count })
      .count.execute({}, callOptions())) {
      if (value === 2) break
    }
    await closed.promise
    expect(log.snapshot()).toMatchObject([
      {
        status: 'error',
        effect: 'unknown',
        errorJson: expect.stringContaining('TOOL_INTERRUPTED') as string,
      },
    ])
  })

  test('drains an iterable that a plain function returns to its last value', async () => {
    const last = defineTool({
      name: 'last',
      schema: z.object({}),
      execute: async () => twoValues(),
    })
    expect(await last.execute({}, callOptions())).toBe('b')
  })
})

describe('the definition-time warning', () => {
  const order = { name: 'order', schema, sideEffect: true, idempotent: false } as const
  const warned = (execute: unknown, more: object = {}): number => {
    const warn = vi.fn<(message: string) => void>()
    defineTool({ ...order, ...more, warn, execute: execute as () => string })
    return warn.mock.calls.length
  }

  test('speaks up once when execute does not take the context', () => {
    expect(warned(() => 'ok')).toBe(1)
    expect(warned(({ sku }: { sku: string }) => sku)).toBe(1)
    expect(warned(async (args: unknown) => args)).toBe(1)
  })

  test('is silent when execute takes it, however it says so', () => {
    expect(warned((_args: unknown, _ctx: unknown) => 'ok')).toBe(0)
    expect(warned((_args: unknown, _ctx = {}) => 'ok')).toBe(0)
    expect(warned((...all: unknown[]) => all)).toBe(0)
    expect(warned(({ sku = ',' } = { sku: 'x' }, { key } = { key: 1 }) => [sku, key])).toBe(0)
    expect(warned(warned.bind(null))).toBe(0)
  })

  test('is silent when the author has answered, or nothing can happen twice', () => {
    expect(warned(() => 'ok', { acceptsContext: true })).toBe(0)
    expect(warned(() => 'ok', { idempotent: true })).toBe(0)
    expect(warned(() => 'ok', { sideEffect: false, idempotent: undefined })).toBe(0)
  })
})

describe('getDefinedToolMetadata', () => {
  const order = defineTool({ name: 'order', schema, sideEffect: true, execute: (_a, _c) => 'ok' })
  const expected = { name: 'order', sideEffect: true, idempotent: false }

  test('returns exactly the name and the two flags', () => {
    expect(getDefinedToolMetadata(order)).toEqual(expected)
    const execute = async (_a: unknown, _c: unknown) => 'ok'
    const upsert = defineTool({ name: 'u', schema, idempotent: true, sideEffect: true, execute })
    expect(getDefinedToolMetadata(upsert)).toEqual({
      name: 'u',
      sideEffect: true,
      idempotent: true,
    })
  })

  test('survives spreading, tool() and binding to a run', () => {
    expect(getDefinedToolMetadata({ ...order })).toEqual(expected)
    expect(getDefinedToolMetadata(tool(order as never))).toEqual(expected)
    expect(getDefinedToolMetadata(createToolRun().tools({ order }).order)).toEqual(expected)
  })

  test('is null for plain tools and everything else', () => {
    for (const value of [tool({ inputSchema: schema }), {}, null, undefined, 1, 'order', () => 1]) {
      expect(getDefinedToolMetadata(value)).toBeNull()
    }
  })
})

async function* twoValues(): AsyncGenerator<string> {
  yield 'a'
  yield 'b'
}
