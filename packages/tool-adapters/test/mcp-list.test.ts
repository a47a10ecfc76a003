import { createMemoryLog } from '@smithers/log-memory'
import { type McpClient, mcpTools } from '@smithers/tool-adapters'
import { createToolRun, getDefinedToolMetadata } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { answering, listing, server } from './fixtures/listed-tools.ts'

const options = { toolCallId: 'call_1', messages: [] }

describe('mcpTools', () => {
  it.each([
    [undefined, true, false],
    [{}, true, false],
    [{ readOnlyHint: true }, false, true],
    [{ readOnlyHint: false, idempotentHint: true }, true, true],
    [{ destructiveHint: false }, true, false],
    [{ readOnlyHint: true, destructiveHint: true, idempotentHint: true }, true, false],
  ])(
    'maps the hints %j to sideEffect %s and idempotent %s',
    async (hints, sideEffect, idempotent) => {
      const { first } = await mcpTools(server(hints))
      expect(getDefinedToolMetadata(first)).toEqual({ name: 'first', sideEffect, idempotent })
    },
  )

  it.each([
    [undefined, { sideEffect: false }, false, true],
    [{ readOnlyHint: true }, { sideEffect: true }, true, false],
    [{ readOnlyHint: true }, { sideEffect: true, idempotent: true }, true, true],
    [undefined, { idempotent: true }, true, true],
  ])(
    'takes, over the hints %j, what configure says: %j',
    async (hints, flags, sideEffect, idempotent) => {
      const { first } = await mcpTools(server(hints), { configure: () => flags })
      expect(getDefinedToolMetadata(first)).toMatchObject({ sideEffect, idempotent })
    },
  )

  it('takes every tool for a side effect when hints are not to be believed', async () => {
    const { first } = await mcpTools(server({ readOnlyHint: true }), { trustAnnotations: false })
    expect(getDefinedToolMetadata(first)).toMatchObject({ sideEffect: true, idempotent: false })
  })

  it('lets configure see every hint, say more than the server, and leave tools out', async () => {
    const seen: unknown[] = []
    const client = listing(
      { name: 'web', annotations: { readOnlyHint: true, openWorldHint: true } },
      { name: 'shell' },
    )
    const tools = await mcpTools(client, {
      configure: ({ name, annotations }) => {
        seen.push(annotations?.openWorldHint)
        if (name === 'shell') return null
        return {
          name: 'search',
          description: 'Searches',
          schema: z.object({ q: z.string().max(3) }),
        }
      },
    })
    expect(seen).toEqual([true, undefined])
    expect(tools).toEqual({ search: expect.objectContaining({ description: 'Searches' }) })
    await expect(tools['search']?.execute({ q: 'long' }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('takes a call no longer than the run or the tool allows', async () => {
    const never = answering(() => new Promise(() => {}), {})
    const log = createMemoryLog()
    const ofRun = createToolRun({ runId: 'a', log, timeoutMs: 50 }).tools(await mcpTools(never))
    await expect(ofRun['tool']?.execute({}, options)).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
      details: { timeoutMs: 50 },
    })
    const remote = await mcpTools(never, { configure: () => ({ timeoutMs: 40 }) })
    const ofTool = createToolRun({ runId: 'b', log }).tools(remote)
    await expect(ofTool['tool']?.execute({}, options)).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
      details: { timeoutMs: 40 },
    })
  })

  it.each([
    ['fails to list', async () => Promise.reject(new Error('no route')), /no route/],
    ['lists one page for ever', async () => ({ tools: [], nextCursor: 'x' }), /same page/],
    [
      'lists new pages for ever',
      async () => ({ tools: [], nextCursor: String(Math.random()) }),
      /on 1000 pages/,
    ],
    [
      'lists tools for ever',
      async () => ({
        tools: Array.from({ length: 6000 }, () => ({ name: 'x', inputSchema: {} })),
        nextCursor: String(Math.random()),
      }),
      /more than 12000 tools/,
    ],
  ])('gives up on a server that %s', async (_what, listTools, message) => {
    const client: McpClient = { listTools, callTool: async () => ({}) }
    await expect(mcpTools(client)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(message),
    })
  })

  it('reads every page of the list', async () => {
    expect(Object.keys(await mcpTools(server(undefined)))).toEqual(['first', 'second'])
  })
})
