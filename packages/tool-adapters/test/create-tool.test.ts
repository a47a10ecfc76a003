import { createTool } from '@smithers/tool-adapters'
import { createToolRun } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/log-memory'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

const options = { toolCallId: 'call_1', messages: [] }
const schema = z.object({ n: z.number() })

describe('createTool', () => {
  it('hands func the parsed arguments and the context', async () => {
    const log = createMemoryLog()
    const tool = createTool({
      name: 'seen',
      schema: z.object({ n: z.coerce.number() }),
      func: ({ n }, { toolName, seq }) => ({ n, toolName, seq }),
    })
    const { bound } = createToolRun({ runId: 'r', log }).tools({ bound: tool })
    expectTypeOf(await bound.execute({ n: 7 }, options)).toEqualTypeOf<{
      n: number
      toolName: string
      seq: number
    }>()
    expect(await bound.execute({ n: '7' as never }, options)).toEqual({
      n: 7,
      toolName: 'seen',
      seq: 2,
    })
  })

  it('streams when func is an async generator, with the last value as the output in the log', async () => {
    const log = createMemoryLog()
    const tool = createTool({
      name: 'count',
      schema,
      async *func({ n }) {
        for (let each = 1; each <= n; each += 1) yield each
      },
    })
    const { count } = createToolRun({ runId: 'r', log }).tools({ count: tool })
    const values: number[] = []
    for await (const value of count.execute({ n: 3 }, options)) values.push(value)
    expect(values).toEqual([1, 2, 3])
    expect(log.snapshot()).toMatchObject([{ toolName: 'count', outputJson: '3' }])
  })

  it('takes every option of the documented shape at once', async () => {
    const log = createMemoryLog()
    let tries = 0
    const tool = createTool({
      name: 'everything',
      description: 'Does everything',
      schema,
      approvalPrompt: 'Run with {{n}}?',
      needsApproval: ({ n }) => n > 10,
      approvalDefaults: { n: 10 },
      maxExecutionsPerRun: 2,
      cache: { keyFn: ({ n }) => n, ttlMs: 60_000, scope: 'run' },
      retry: {
        maxRetries: 1,
        backoffMs: 1,
        shouldRetry: (error, attempt) => error?.message === 'again' && attempt === 1,
        circuitBreakerThreshold: 2,
      },
      func: ({ n }) => {
        tries += 1
        if (tries === 1) throw new Error('again')
        return n
      },
    })
    const { bound } = createToolRun({ runId: 'r', log }).tools({ bound: tool })
    const call = (n: number): Promise<number> => bound.execute({ n }, options)
    expect([await call(1), await call(1), tries]).toEqual([1, 1, 2])
    await expect(call(11)).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
    await call(2)
    await expect(call(3)).rejects.toMatchObject({ code: 'TOOL_LIMIT_REACHED' })
  })

  it.each([
    ['no function', { name: 'x', schema }],
    ['execute in place of func', { name: 'x', schema, execute: (): number => 1 }],
    ['both', { name: 'x', schema, func: (): number => 1, execute: (): number => 1 }],
  ])('refuses %s, and says what the function is called', (_what, given) => {
    expect(() => createTool(given as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_TOOL',
        message: expect.stringContaining('as func'),
      }),
    )
  })
})
