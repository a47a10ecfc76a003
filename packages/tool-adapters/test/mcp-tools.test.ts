import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { createMemoryLog } from '@smithers/log-memory'
import { type McpClient, mcpTools } from '@smithers/tool-adapters'
import { createToolRun, getDefinedToolMetadata, pendingApprovals } from '@smithers/tool-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const { resolve } = createRequire(import.meta.url)
const manifest = resolve('@modelcontextprotocol/server-everything/package.json')
const command = process.execPath
const args = [join(dirname(manifest), 'dist/index.js'), 'stdio']
const options = { toolCallId: 'call_1', messages: [] }

type ClosableClient = McpClient & { close(): Promise<void> }

async function sdkClient(): Promise<ClosableClient> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
  return client
}

async function aiSdkClient(): Promise<ClosableClient> {
  const transport = new StdioMCPTransport({ command, args, stderr: 'ignore' })
  return createMCPClient({ transport })
}

describe.each([
  ['the client of the MCP SDK', sdkClient],
  ["the AI SDK's client", aiSdkClient],
])('mcpTools with %s and a real server over stdio', (_name, connect) => {
  let client: ClosableClient
  beforeAll(async () => {
    client = await connect()
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
    await expect(echo?.execute({ message: 'x' }, options)).rejects.toThrow(/no-such-tool/)
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

  it('takes every tool for a side effect when hints are not to be believed', async () => {
    const { first } = await mcpTools(server({ readOnlyHint: true }), { trustAnnotations: false })
    expect(getDefinedToolMetadata(first)).toMatchObject({ sideEffect: true, idempotent: false })
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
