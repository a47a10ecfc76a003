import { createMemoryLog } from '@smithers/log-memory'
import { adaptTool, type ForeignTool } from '@smithers/tool-adapters'
import { createToolRun, getDefinedToolMetadata, pendingApprovals } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const schema = z.object({ n: z.number() })
const options = { toolCallId: 'call_1', messages: [] }

class Counter {
  readonly name = 'counter'
  readonly description = 'Counts'
  readonly schema = schema
  total = 0
  run({ n }: { n: number }): number {
    this.total += n
    return this.total
  }
}

describe('adaptTool', () => {
  it('uses the first of invoke, call, run, func and _call that the object has', async () => {
    const names = ['invoke', 'call', 'run', 'func', '_call'] as const
    for (const [index, first] of names.entries()) {
      const functions = Object.fromEntries(names.slice(index).map((name) => [name, () => name]))
      const tool = adaptTool({ name: 'any', schema, ...functions })
      expect(await tool.execute({ n: 1 }, options)).toBe(first)
    }
  })

  it('calls it as a method of its object, with parsed arguments, the signal and the id of the call', async () => {
    const counter = new Counter()
    const tool = adaptTool(counter)
    await tool.execute({ n: 2 }, options)
    await tool.execute({ n: 3 }, options)
    expect(counter.total).toBe(5)
    await expect(tool.execute({ n: 'x' }, options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(counter.total).toBe(5)

    const seen: unknown[] = []
    const spy = adaptTool({
      name: 'spy',
      schema,
      func: (...given: unknown[]) => seen.push(...given),
    })
    const controller = new AbortController()
    await spy.execute({ n: 1 }, { ...options, abortSignal: controller.signal })
    controller.abort()
    expect(seen).toMatchObject([
      { n: 1 },
      { toolCallId: 'call_1', idempotencyKey: expect.any(String) },
    ])
    expect((seen[1] as { signal: AbortSignal }).signal.aborted).toBe(true)
  })

  it('counts as a side effect unless told otherwise, and leaves its rows in the log', async () => {
    const log = createMemoryLog()
    const tool = adaptTool(new Counter())
    expect(getDefinedToolMetadata(tool)).toEqual({
      name: 'counter',
      sideEffect: true,
      idempotent: false,
    })
    expect(getDefinedToolMetadata(adaptTool(new Counter(), { sideEffect: false }))).toEqual({
      name: 'counter',
      sideEffect: false,
      idempotent: true,
    })
    await createToolRun({ runId: 'r', log }).tools({ tool }).tool.execute({ n: 1 }, options)
    expect(log.snapshot()).toMatchObject([
      { toolName: 'counter', status: 'success', effect: 'applied' },
    ])
  })

  it.each([
    ['the object', { cache: true }, {}, false],
    ['the options', {}, { cache: true }, false],
    ['the options, over the object', { cache: true }, { cache: false }, true],
    ['neither', { cache: false }, {}, true],
  ])(
    'counts as one without a side effect when %s declare a cache',
    (_who, own, given, expected) => {
      const tool = adaptTool({ name: 'x', schema, func: () => 1, ...own }, given)
      expect(getDefinedToolMetadata(tool)?.sideEffect).toBe(expected)
    },
  )

  it('returns the last value of a tool that streams', async () => {
    const tool = adaptTool({
      name: 'count',
      schema,
      async *run() {
        yield 1
        yield 2
      },
    })
    expect(await tool.execute({ n: 1 }, options)).toBe(2)
  })

  it('passes the gates that the object declares', async () => {
    const log = createMemoryLog()
    let runs = 0
    const count = (): number => (runs += 1)
    const limited = adaptTool({
      name: 'limited',
      schema,
      maxExecutionsPerRun: 1,
      cache: true,
      func: count,
    })
    const asked = adaptTool({
      name: 'asked',
      schema,
      needsApproval: true,
      func: count,
    })
    const tools = createToolRun({ runId: 'r', log }).tools({ limited, asked })
    const results = await Promise.allSettled([
      tools.limited.execute({ n: 1 }, options),
      tools.limited.execute({ n: 1 }, options),
      tools.limited.execute({ n: 2 }, options),
      tools.asked.execute({ n: 1 }, options),
    ])
    expect(
      results.map((each) =>
        each.status === 'fulfilled' ? each.value : (each.reason as { code: string }).code,
      ),
    ).toEqual([1, 1, 'TOOL_LIMIT_REACHED', 'TOOL_APPROVAL_REQUIRED'])
    expect(runs).toBe(1)
    expect(await pendingApprovals({ log })).toHaveLength(1)
  })

  it.each([
    ['that is none', null],
    ['that is a function', (): number => 1],
    ['without a function', { name: 'x', schema }],
    ['without a name', { schema, func: (): number => 1 }],
    ['without a Zod 4 schema', { name: 'x', schema: { type: 'object' }, func: (): number => 1 }],
  ])('refuses an object %s', (_what, foreign) => {
    expect(() => adaptTool(foreign as ForeignTool)).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
  })
})
