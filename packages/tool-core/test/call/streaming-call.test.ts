import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'

describe('defineTool', () => {
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

async function* twoValues(): AsyncGenerator<string> {
  yield 'a'
  yield 'b'
}
