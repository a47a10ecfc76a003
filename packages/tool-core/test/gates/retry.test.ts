import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createToolRun, defineTool, type RetryOptions, SmithersError } from '@smithers/tool-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { call } from './call.ts'

const schema = z.object({ q: z.string() })

/** How long the tools of this file were told to pause, in milliseconds. */
const pauses = vi.hoisted((): (number | undefined)[] => [])

vi.mock('node:timers/promises', async (load) => {
  const actual = await load<typeof import('node:timers/promises')>()
  const setTimeout: typeof actual.setTimeout = (ms, ...rest) => {
    pauses.push(ms)
    return actual.setTimeout(ms, ...rest)
  }
  return { ...actual, setTimeout }
})

function flaky(
  retry: RetryOptions,
  failures: number,
  error: () => unknown = () => new Error('down'),
) {
  const at: number[] = []
  const tool = defineTool({
    name: 'search',
    schema,
    retry,
    execute: async () => {
      at.push(performance.now())
      if (at.length <= failures) throw error()
      return `hit after ${at.length}`
    },
  })
  return { tool, at }
}

describe('retry', () => {
  afterEach(() => vi.restoreAllMocks())

  it('tries again until it succeeds, in one call with one row', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, at } = flaky({ maxRetries: 3, backoffMs: 1 }, 2)
    expect(await call(run, tool, { q: 'x' })).toBe('hit after 3')
    expect(at).toHaveLength(3)
    expect(log.snapshot().map(({ status }) => status)).toEqual(['success'])
  })

  it('throws the last error of the tool when its tries are used up', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    let n = 0
    const { tool, at } = flaky(
      { maxRetries: 2, backoffMs: 0 },
      9,
      () => new Error(`try ${(n += 1)}`),
    )
    await expect(call(run, tool, { q: 'x' })).rejects.toThrow('try 3')
    expect(at).toHaveLength(3)
  })

  it('doubles its pauses up to the cap, half of each at random', async () => {
    // Random says 1: the longest pauses, so that they are known.
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, at } = flaky({ maxRetries: 5, backoffMs: 20, maxBackoffMs: 80 }, 5)
    pauses.length = 0
    await call(run, tool, { q: 'x' })
    expect(at).toHaveLength(6)
    expect(pauses).toEqual([20, 40, 80, 80, 80])
  })

  it('ends a pause at once when the call is aborted, and does not try again', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const controller = new AbortController()
    const { tool, at } = flaky({ maxRetries: 1, backoffMs: 1_000_000 }, 9)
    const pending = call(run, tool, { q: 'x' }, { abortSignal: controller.signal })
    await vi.waitFor(() => expect(at).toHaveLength(1), { timeout: 60_000 })
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error('enough'))
    // Without the abort this would take a quarter of an hour.
    await expect(pending).rejects.toThrow('enough')
    expect(at).toHaveLength(1)
  })

  it('asks shouldRetry with the error and the number of the try, from 1', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const asked: [string | undefined, number][] = []
    const { tool, at } = flaky(
      {
        maxRetries: 9,
        backoffMs: 0,
        shouldRetry: (error, attempt) => {
          asked.push([error?.message, attempt])
          return attempt < 3
        },
      },
      9,
    )
    await expect(call(run, tool, { q: 'x' })).rejects.toThrow('down')
    expect(asked).toEqual([
      ['down', 1],
      ['down', 2],
      ['down', 3],
    ])
    expect(at).toHaveLength(3)
  })

  it('keeps the error of the tool as the cause when shouldRetry throws', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const down = new Error('down')
    const { tool } = flaky(
      {
        maxRetries: 1,
        shouldRetry: () => {
          throw new TypeError('no idea')
        },
      },
      9,
      () => down,
    )
    await expect(call(run, tool, { q: 'x' })).rejects.toMatchObject({
      code: 'INVALID_TOOL',
      cause: down,
    })
  })

  it('does not try again what no try can mend', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, at } = flaky(
      { maxRetries: 5, backoffMs: 0 },
      9,
      () => new SmithersError('INVALID_INPUT', 'bad'),
    )
    await expect(call(run, tool, { q: 'x' })).rejects.toThrow('bad')
    expect(at).toHaveLength(1)
  })

  it('is refused at definition for a side effect that is not idempotent, unless it takes the key', () => {
    const options = {
      name: 't',
      schema,
      sideEffect: true,
      retry: { maxRetries: 1 },
      warn: () => {},
    }
    expect(() => defineTool({ ...options, execute: () => 1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
    expect(defineTool({ ...options, execute: (_args, ctx) => ctx.idempotencyKey })).toHaveProperty(
      'execute',
    )
    expect(defineTool({ ...options, idempotent: true, execute: () => 1 })).toHaveProperty('execute')
  })

  it('does not ask shouldRetry after the last try', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const asked: number[] = []
    const shouldRetry = (_error: unknown, attempt: number): boolean => asked.push(attempt) > 0
    const { tool, at } = flaky({ maxRetries: 2, backoffMs: 0, shouldRetry }, 9)
    await expect(call(run, tool, { q: 'x' })).rejects.toThrow('down')
    expect(at).toHaveLength(3)
    expect(asked).toEqual([1, 2])
  })

  it.each([
    ['a promise', () => Promise.reject(new Error('later')), 'it returned a promise'],
    ['nothing', () => undefined, 'not true or false'],
  ])('does not try again when shouldRetry answers with %s', async (_what, answer, said) => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, at } = flaky(
      { maxRetries: 2, backoffMs: 0, shouldRetry: answer as unknown as () => boolean },
      9,
    )
    await expect(call(run, tool, { q: 'x' })).rejects.toMatchObject({
      code: 'INVALID_TOOL',
      message: expect.stringContaining(said) as string,
      cause: { message: 'down' },
    })
    expect(at).toHaveLength(1)
  })
})
