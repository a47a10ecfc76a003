import { createMemoryLog } from '@smithers/log-memory'
import { type McpClient, mcpTools } from '@smithers/tool-adapters'
import { createToolRun, getDefinedToolMetadata, pendingApprovals } from '@smithers/tool-core'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { aiSdkClient, clients, type ClosableClient, everything } from './fixtures/mcp-clients.ts'

const options = { toolCallId: 'call_1', messages: [] }

describe.each(clients)('mcpTools with %s and a real server over stdio', (which, connect) => {
  let client: ClosableClient
  beforeAll(async () => {
    client = await connect(everything)
  })
  afterAll(() => client.close())

  it('journals calls, and validates their input before the server sees it', async () => {
    const log = createMemoryLog()
    const tools = createToolRun({ runId: 'r', log }).tools(await mcpTools(client))
    expect(Object.keys(tools)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
    expect(await tools['echo']?.execute({ message: 'hello' }, options)).toBe('Echo: hello')
    expect(await tools['get-sum']?.execute({ a: 2, b: 3 }, options)).toContain('5')
    await expect(tools['get-sum']?.execute({ a: 'x', b: 3 }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(log.snapshot().map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
      'echo success',
      'get-sum success',
      'get-sum error',
    ])
  })

  it('passes gates, and tells servers apart by a prefix', async () => {
    const log = createMemoryLog()
    const remote = await mcpTools(client, {
      prefix: 'every_',
      configure: ({ name }) => (name === 'echo' ? { needsApproval: true } : undefined),
    })
    const tools = createToolRun({ runId: 'r', log }).tools(remote)
    await expect(tools['every_echo']?.execute({ message: 'x' }, options)).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(await pendingApprovals({ log })).toMatchObject([{ toolName: 'every_echo' }])
  })

  it('fails a call when the server cannot do what was asked', async () => {
    const call = client.callTool.bind(client) as (
      request: object,
      ...others: unknown[]
    ) => Promise<unknown>
    // A name that the server does not know: it answers with an error.
    const misled: McpClient = {
      listTools: client.listTools.bind(client),
      callTool: (request: object, ...others: unknown[]) =>
        call({ ...request, name: 'no-such-tool' }, ...others),
      toolsFromDefinitions: client.toolsFromDefinitions,
    }
    const { echo } = await mcpTools(misled)
    await expect(echo?.execute({ message: 'x' }, options)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('no-such-tool'),
    })
  })

  it('takes the hints, titles and schemas of the server over', async () => {
    const tools = await mcpTools(client)
    expect(getDefinedToolMetadata(tools['echo'])).toMatchObject({ sideEffect: false })
    expect(getDefinedToolMetadata(tools['gzip-file-as-resource'])).toMatchObject({
      sideEffect: true,
      idempotent: true,
    })
    expect(tools['echo']).toMatchObject({ title: 'Echo Tool' })
    expect(tools['echo'] && z.toJSONSchema(tools['echo'].inputSchema)).toMatchObject({
      type: 'object',
      properties: { message: { type: 'string', description: 'Message to echo' } },
      required: ['message'],
    })
  })

  it('returns structured content as it is, and parts with an image as parts', async () => {
    const tools = createToolRun({ runId: 'r', log: createMemoryLog() }).tools(
      await mcpTools(client),
    )
    const weather = tools['get-structured-content']
    expect(await weather?.execute({ location: 'New York' }, options)).toMatchObject({
      conditions: expect.any(String),
    })
    expect(await tools['get-tiny-image']?.execute({}, options)).toMatchObject([
      { type: 'text' },
      { type: 'image', mimeType: 'image/png' },
      { type: 'text' },
    ])
  })

  it('runs a tool that is a task, or says which client can', async () => {
    const tools = createToolRun({ runId: 'r', log: createMemoryLog() }).tools(
      await mcpTools(client),
    )
    const call = tools['simulate-research-query']?.execute({ topic: 'tides' }, options)
    if (which === 'the client of the MCP SDK') expect(await call).toMatch(/tides/)
    else await expect(call).rejects.toThrow(/only the client of the MCP SDK/)
  })
})

describe('a tool of an MCP server in an agent', () => {
  it('shows the model the image that the server sent', async () => {
    const client = await aiSdkClient(everything)
    try {
      const log = createMemoryLog()
      const tools = createToolRun({ runId: 'r', log }).tools(await mcpTools(client))
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      }
      const call = { type: 'tool-call', toolCallId: 'c', toolName: 'get-tiny-image', input: '{}' }
      const turn = { finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] }
      const model = new MockLanguageModelV4({
        doGenerate: [
          { ...turn, content: [call] },
          { ...turn, content: [{ type: 'text', text: 'A logo.' }] },
        ] as never,
      })
      await generateText({
        model,
        prompt: 'What does it show?',
        tools,
        stopWhen: ({ steps }) => steps.length === 2,
      })
      expect(model.doGenerateCalls[1]?.prompt.at(-1)?.content).toMatchObject([
        {
          type: 'tool-result',
          output: {
            type: 'content',
            value: [{ type: 'text' }, { type: 'file', mediaType: 'image/png' }, { type: 'text' }],
          },
        },
      ])
    } finally {
      await client.close()
    }
  })
})
