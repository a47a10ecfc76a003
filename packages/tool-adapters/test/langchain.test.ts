import { ToolMessage } from '@langchain/core/messages'
import { DynamicTool, tool as langChainTool } from '@langchain/core/tools'
import { createMemoryLog } from '@smithers/log-memory'
import { fromLangChain, toLangChain } from '@smithers/tool-adapters/langchain'
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
    const tool = fromLangChain(multiply, { sideEffect: false })
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
    const tools = [old, json].map((each) => fromLangChain(each as never))
    for (const tool of tools) {
      expect(await tool.execute({ city: 'Rome' }, options)).toMatch(/in Rome$/)
      await expect(tool.execute({ city: 1 }, options)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    }
    const shout = fromLangChain(text)
    expect(await shout.execute({ input: 'hello' }, options)).toBe('HELLO')
  })

  it("tells the tool the id and the key of its call, where LangChain keeps what is the caller's", async () => {
    let seen: unknown
    const spy = langChainTool((_args: object, config) => void (seen = config.configurable), {
      name: 'spy',
      description: 'Looks',
      schema: z.object({}),
    })
    await fromLangChain(spy).execute({}, options)
    expect(seen).toMatchObject({ toolCallId: 'call_1', idempotencyKey: expect.any(String) })
  })

  it('refuses arguments that LangChain would open as a call, so that what was validated is what runs', async () => {
    const seen: unknown[] = []
    const spy = langChainTool(((args: unknown) => void seen.push(args)) as never, {
      name: 'spy',
      description: 'Looks',
      schema: { type: 'object', properties: { type: { type: 'string' } } },
    })
    const given = { type: 'tool_call', id: 'x', name: 'spy', args: { command: 'hidden' } }
    await expect(fromLangChain(spy).execute(given, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(seen).toEqual([])
  })

  it('returns the content of a message that the tool made, as the output', async () => {
    const reply = langChainTool(
      () => new ToolMessage({ content: 'all is well', tool_call_id: 'call_1' }),
      { name: 'reply', description: 'Replies', schema: z.object({}) },
    )
    expect(await fromLangChain(reply).execute({}, options)).toBe('all is well')
  })

  it('passes the gates that the tool carries', async () => {
    const log = createMemoryLog()
    const careful = Object.assign(
      langChainTool(() => 'done', { name: 'careful', description: 'Cares', schema: z.object({}) }),
      { needsApproval: true },
    )
    const { tool } = createToolRun({ runId: 'r', log }).tools({ tool: fromLangChain(careful) })
    await expect(tool.execute({}, options)).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
  })

  it('fails as the tool fails', async () => {
    const broken = langChainTool(
      () => {
        throw new Error('no service')
      },
      { name: 'broken', description: 'Breaks', schema: z.object({}) },
    )
    await expect(fromLangChain(broken).execute({}, options)).rejects.toThrow('no service')
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
    const tool = toLangChain(add)
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

  it('gives LangChain a text where the AI SDK takes a function, and the last value of a stream', async () => {
    const count = defineTool({
      name: 'count',
      description: () => 'Counts',
      schema: z.object({}),
      async *execute() {
        yield 1
        yield 2
      },
    })
    const tool = toLangChain(count)
    expect(tool.description).toBe('count')
    expect(await tool.invoke({})).toBe(2)
  })

  it('hands the signal of LangChain on to the tool', async () => {
    const started = Promise.withResolvers<void>()
    const wait = defineTool({
      name: 'wait',
      schema: z.object({}),
      execute: (_args, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error))
          started.resolve()
        }),
    })
    const controller = new AbortController()
    const call = toLangChain(wait).invoke({}, { signal: controller.signal })
    await started.promise
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow(/enough|Abort/)
  })

  it('makes tools that fromLangChain takes back', async () => {
    const add = defineTool({
      name: 'add',
      schema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ({ sum: a + b }),
    })
    const back = fromLangChain(toLangChain(add))
    expect(await back.execute({ a: 1, b: 2 }, options)).toEqual({ sum: 3 })
  })

  it('refuses what is no defined tool', () => {
    expect(() => toLangChain({} as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
  })
})
