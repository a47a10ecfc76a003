import { createToolRun, defineTool, type ToolRun } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'
import { logWith } from '../fixtures/log-with.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const empty = z.object({})

describe('leases', () => {
  test('are renewed while a call runs', async () => {
    const renewed = deferred<number>()
    const log = logWith((memory) => ({
      renew: (token, expires) => {
        renewed.resolve(expires)
        return memory.renew(token, expires)
      },
    }))
    const wait = defineTool({ name: 'wait', schema: empty, execute: () => renewed.promise })
    const startedAt = Date.now()
    const run = createToolRun({ log, leaseMs: 30 })
    expect(await run.tools({ wait }).wait.execute({}, callOptions())).toBeGreaterThan(startedAt)
  })

  test('that were lost abort the call, whose finish is then fenced', async () => {
    const memory = createMemoryLog()
    const log = { ...memory, renew: () => false }
    const provider = new StripeLikeProvider()
    const charge = defineTool({
      name: 'charge',
      schema: empty,
      sideEffect: true,
      execute: async (_args, ctx) => {
        await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve))
        // As the worker that took the call over would have done.
        const [row] = memory.snapshot()
        memory.finish(row?.callToken ?? '', {
          status: 'error',
          outputJson: null,
          errorJson: null,
          effect: 'unknown',
          finishedAtMs: 1,
        })
        return provider.charge({ customer: 'a', amount: 1 }, ctx.idempotencyKey)
      },
    })
    const run = createToolRun({ log, leaseMs: 30 })
    await expect(run.tools({ charge }).charge.execute({}, callOptions())).rejects.toMatchObject({
      code: 'TOOL_CALL_FENCED',
    })
    await expect(run.settle()).rejects.toMatchObject({ code: 'TOOL_CALL_FENCED' })
    expect(memory.snapshot()).toMatchObject([{ status: 'error', finishedAtMs: 1 }])
  })
})

describe('waiting for the holder of a key', () => {
  test('ends although the clock is set back all the time', async () => {
    const log = createMemoryLog()
    const hold = defineTool({
      name: 'hold',
      schema: empty,
      sideEffect: true,
      acceptsContext: true,
      execute: () => new Promise(() => {}),
    })
    const attempt = (): ToolRun => createToolRun({ runId: 'r', log, timeoutMs: 20 })
    const [first, second] = [attempt(), attempt()]
    void first.tools({ hold }).hold.execute({}, callOptions())
    let now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => (now -= 1000))
    const waiting = second.tools({ hold }).hold.execute({}, callOptions())
    await expect(waiting).rejects.toMatchObject({ code: 'TOOL_CALL_IN_PROGRESS' })
    vi.restoreAllMocks()
  })
})
