import { createMemoryLog } from '@smithers/log-memory'
import { type McpClient, mcpTools } from '@smithers/tool-adapters'
import { createToolRun, getDefinedToolMetadata, pendingApprovals } from '@smithers/tool-core'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { answering, listing } from './fixtures/listed-tools.ts'
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

describe('mcpTools', () => {
  const server = (annotations: object | undefined, result: object = {}): McpClient => ({
    listTools: async ({ cursor }: { cursor?: string }) => ({
      tools: [{ name: cursor ?? 'first', inputSchema: { type: 'object' }, annotations }],
      ...(cursor === undefined ? { nextCursor: 'second' } : {}),
    }),
    callTool: async () => result,
  })

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

  it('gives the server what the agent gave, without defaults of its own', async () => {
    const { tool } = await mcpTools(
      listing({
        inputSchema: {
          type: 'object',
          properties: { unit: { type: 'string', enum: ['m', 'ft'], default: 'm' } },
        },
      }),
    )
    expect(await tool?.execute({}, options)).toEqual({ name: 'tool', arguments: {} })
    await expect(tool?.execute({ unit: 'mile' }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('allows what a schema allows, also where it is checked by halves', async () => {
    const { tool } = await mcpTools(
      listing({
        inputSchema: {
          type: 'object',
          properties: {
            id: {
              oneOf: [
                { type: 'string', pattern: '^a' },
                { type: 'string', pattern: '^b' },
              ],
            },
            link: { type: 'string', format: 'uri-reference' },
            pattern: { type: 'string' },
          },
          patternProperties: { '^x-': { type: 'string' } },
          additionalProperties: false,
        },
      }),
    )
    const given = { id: 'b1', link: '../there', pattern: 'p', 'x-note': 'n' }
    expect(await tool?.execute(given, options)).toMatchObject({ arguments: given })
    await expect(tool?.execute({ id: 1 }, options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('shows the model images as images, and bytes of other kinds by name', async () => {
    const content = [
      { type: 'text', text: 'A picture:' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c291bmQ=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words' } },
      {
        type: 'resource',
        resource: { uri: 'file:///b.zip', mimeType: 'application/zip', blob: 'eg==' },
      },
      { type: 'resource', resource: { uri: 'file:///c.png', mimeType: 'image/png', blob: 'aW1n' } },
      { type: 'resource_link', uri: 'file:///d', name: 'd' },
    ]
    const remote = await mcpTools(answering(async () => ({ content }), { name: 'look' }))
    const shown = [
      { type: 'text', text: 'A picture:' },
      { type: 'image-data', data: 'aW1n', mediaType: 'image/png' },
      { type: 'text', text: '[audio: audio/wav, 5 bytes]' },
      { type: 'text', text: 'file:///a.txt\nwords' },
      { type: 'text', text: '[file:///b.zip: application/zip, 1 bytes]' },
      { type: 'image-data', data: 'aW1n', mediaType: 'image/png' },
      { type: 'text', text: '{"type":"resource_link","uri":"file:///d","name":"d"}' },
    ]
    const { toModelOutput } = remote['look'] as unknown as {
      toModelOutput(given: unknown): unknown
    }
    const call = { toolCallId: 'c', input: {} }
    expect(toModelOutput({ ...call, output: content })).toEqual({ type: 'content', value: shown })
    // AI SDK 5 hands over the output alone.
    expect(toModelOutput(content)).toMatchObject({
      value: [{}, { type: 'media', data: 'aW1n' }, {}, {}, {}, {}, {}],
    })
    const structuredContent = { width: 1 }
    expect(toModelOutput({ ...call, output: { content, structuredContent } })).toMatchObject({
      value: [{ text: '{"width":1}' }, { type: 'image-data' }, {}, {}, {}, {}, {}],
    })
    expect(toModelOutput({ ...call, output: 'words' })).toEqual({ type: 'text', value: 'words' })
    expect(toModelOutput({ ...call, output: [1] })).toEqual({ type: 'json', value: [1] })
  })

  it('fails a call whose structured content is not what the server said it would be', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    for (const structuredContent of [{ n: 1 }, { n: 'one' }, {}]) {
      const client = answering(async () => ({ content: [], structuredContent }), { outputSchema })
      const call = (await mcpTools(client))['tool']?.execute({}, options)
      if (structuredContent.n === 1) expect(await call).toEqual({ n: 1 })
      else {
        await expect(call).rejects.toMatchObject({
          code: 'TOOL_FAILED',
          message: expect.stringContaining('at n: Invalid input'),
        })
      }
    }
  })

  it('keeps the image beside structured content', async () => {
    const content = [{ type: 'image', data: 'aW1n', mimeType: 'image/png' }]
    const result = { content, structuredContent: { width: 1 } }
    const { tool } = await mcpTools(answering(async () => result, {}))
    expect(await tool?.execute({}, options)).toEqual(result)
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

  it('turns isError into an error with the text of the server', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'disk is full' }] }
    const { first } = await mcpTools(server(undefined, failed))
    await expect(first?.execute({}, options)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'disk is full',
    })
  })

  it('returns structured content, else text, else the parts', async () => {
    const outputs = [
      [{ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }, { a: 1 }],
      [
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        'a\nb',
      ],
      [
        { content: [{ type: 'image', data: 'x', mimeType: 'image/png' }] },
        [{ type: 'image', data: 'x', mimeType: 'image/png' }],
      ],
    ] as const
    for (const [result, output] of outputs) {
      const { first } = await mcpTools(server(undefined, result))
      expect(await first?.execute({}, options)).toEqual(output)
    }
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
