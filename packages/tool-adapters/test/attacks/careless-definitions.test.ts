import { createTool, mcpTools } from '@smithers/tool-adapters'
import {
  createToolContext,
  createToolRun,
  defineTool,
  getDefinedToolMetadata,
} from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const schema = z.object({ n: z.number() })

describe('run.tools', () => {
  it.each(['invoke', 'call', 'run', 'func'])(
    'refuses an object that has only %s, by its name',
    (method) => {
      const shout = { name: 'shout', schema, [method]: () => 'HELLO' }
      expect(() => createToolRun().tools({ shout })).toThrow(
        expect.objectContaining({
          code: 'INVALID_TOOL',
          message: expect.stringMatching(`Tool "shout" has ${method}, but no execute`) as string,
        }) as Error,
      )
    },
  )

  it('refuses a list, whose tools would be named by their places', () => {
    const shout = defineTool({ name: 'shout', schema, execute: () => 'HELLO' })
    expect(() => createToolRun().tools([shout] as never)).toThrow(/toolset/)
  })

  it('refuses a bare function', () => {
    expect(() => createToolRun().tools({ shout: () => 'HELLO' })).toThrow(/"shout" is a function/)
  })

  it('takes tools without a function, which a client or a provider runs', () => {
    const tools = { ask: { description: 'Asks.', inputSchema: schema } }
    expect(createToolRun().tools(tools)).toEqual(tools)
  })
})

describe('createTool', () => {
  it('counts a call that needs approval as a side effect', () => {
    const func = (): string => 'ok'
    const of = (options: object): unknown =>
      getDefinedToolMetadata(
        createTool({ name: 't', description: 'T.', schema, func, warn: () => {}, ...options }),
      )
    const careful = { name: 't', sideEffect: true, idempotent: false }
    expect(of({ needsApproval: true })).toEqual(careful)
    expect(of({ needsApproval: () => false })).toEqual(careful)
    const harmless = { name: 't', sideEffect: false, idempotent: true }
    expect(of({})).toEqual(harmless)
    expect(of({ needsApproval: false })).toEqual(harmless)
    expect(of({ needsApproval: true, cache: true })).toEqual(harmless)
    expect(of({ needsApproval: true, sideEffect: false })).toEqual(harmless)
  })
})

describe('mcpTools', () => {
  const client = (annotations: object) => ({
    listTools: async () => ({
      tools: [{ name: 'pay', inputSchema: { type: 'object' }, annotations }],
    }),
    callTool: async () => ({ content: [{ type: 'text', text: 'paid' }] }),
  })
  const configure = () => ({ retry: { maxRetries: 2 } })

  it('refuses to retry a side effect, since a server takes no key', async () => {
    await expect(mcpTools(client({}) as never, { configure })).rejects.toMatchObject({
      code: 'INVALID_TOOL',
      message: expect.stringContaining('a server takes no idempotency key') as string,
    })
  })

  it('retries a tool that is safe to repeat', async () => {
    expect(
      Object.keys(await mcpTools(client({ readOnlyHint: true }) as never, { configure })),
    ).toEqual(['pay'])
    const idempotent = client({ idempotentHint: true }) as never
    expect(Object.keys(await mcpTools(idempotent, { configure }))).toEqual(['pay'])
  })
})

describe('createToolContext', () => {
  it.each([
    'runId',
    'nodeId',
    'iteration',
    'attempt',
    'rootDir',
    'allowNetwork',
    'maxOutputBytes',
    'timeoutMs',
    'isolation',
    'log',
  ])('refuses null as %s', (name) => {
    expect(() => createToolContext({ [name]: null })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }) as Error,
    )
  })
})
