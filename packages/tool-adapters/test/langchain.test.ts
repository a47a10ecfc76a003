import { DynamicTool, tool as langChainTool } from '@langchain/core/tools'
import { createMemoryLog } from '@smithers/log-memory'
import { fromLangChain, toLangChain } from '@smithers/tool-adapters'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'

const options = { toolCallId: 'call_1', messages: [] }

describe('fromLangChain', () => {
  it('journals a tool with a Zod 4 schema, validates its input and hands the signal on', async () => {
    const log = createMemoryLog()
    let signal: AbortSignal | undefined
    const multiply = langChainTool(
      ({ a, b }: { a: number; b: number }, config) => {
        signal = config.signal
        return String(a * b)
      },
      {
        name: 'multiply',
        description: 'Multiplies',
        schema: z.object({ a: z.number(), b: z.number() }),
      },
    )
    const tool = await fromLangChain(multiply, { sideEffect: false })
    expect(tool.description).toBe('Multiplies')
    const { bound } = createToolRun({ runId: 'r', log }).tools({ bound: tool })
    const controller = new AbortController()
    expect(
      await bound.execute({ a: 6, b: 7 }, { ...options, abortSignal: controller.signal }),
    ).toBe('42')
    controller.abort()
    expect(signal?.aborted).toBe(true)
    await expect(bound.execute({ a: 'x', b: 1 }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(log.snapshot().map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
      'multiply success',
      'multiply error',
    ])
  })

  it('takes schemas of Zod 3 and JSON Schema, and tools that take a text', async () => {
    const old = langChainTool(({ city }: { city: string }) => `sun in ${city}`, {
      name: 'weather',
      description: 'Weather',
      schema: z3.object({ city: z3.string() }) as never,
    })
    const json = langChainTool(((args: { city: string }) => `rain in ${args.city}`) as never, {
      name: 'forecast',
      description: 'Forecast',
      schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    })
    const text = new DynamicTool({
      name: 'shout',
      description: 'Shouts',
      func: async (input) => input.toUpperCase(),
    })
    const tools = await Promise.all([old, json].map((each) => fromLangChain(each as never)))
    for (const tool of tools) {
      expect(await tool.execute({ city: 'Rome' }, options)).toMatch(/in Rome$/)
      await expect(tool.execute({ city: 1 }, options)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    }
    const shout = await fromLangChain(text)
    expect(await shout.execute({ input: 'hello' }, options)).toBe('HELLO')
  })

  it('fails as the tool fails', async () => {
    const broken = langChainTool(
      () => {
        throw new Error('no service')
      },
      { name: 'broken', description: 'Breaks', schema: z.object({}) },
    )
    await expect((await fromLangChain(broken)).execute({}, options)).rejects.toThrow('no service')
  })
})

describe('toLangChain', () => {
  it('makes a tool that LangChain can call, in the surrounding run, with the id of its call', async () => {
    const log = createMemoryLog()
    const add = defineTool({
      name: 'math.add',
      description: 'Adds',
      schema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    })
    const tool = await toLangChain(add)
    expect([tool.name, tool.description]).toEqual(['math_add', 'Adds'])
    const run = createToolRun({ runId: 'r', log })
    const message = await run.with(() =>
      tool.invoke({ type: 'tool_call', id: 'call_7', name: 'math_add', args: { a: 1, b: 2 } }),
    )
    expect(message).toMatchObject({ tool_call_id: 'call_7', content: '{"sum":3}' })
    expect(log.snapshot()).toMatchObject([
      { runId: 'r', toolName: 'math.add', toolCallId: 'call_7' },
    ])
    await expect(tool.invoke({ a: 1 } as never)).rejects.toThrow(/schema/)
  })

  it('refuses what is no defined tool', async () => {
    await expect(toLangChain({} as never)).rejects.toMatchObject({ code: 'INVALID_TOOL' })
  })
})
