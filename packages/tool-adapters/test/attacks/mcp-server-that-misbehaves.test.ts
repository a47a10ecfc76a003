import { createMemoryLog } from '@smithers/log-memory'
import { mcpTools } from '@smithers/tool-adapters'
import { createToolRun, type SmithersError } from '@smithers/tool-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clients, type ClosableClient, misbehaving } from '../fixtures/mcp-clients.ts'

const options = { toolCallId: 'call_1', messages: [] }

describe.each(clients)('an MCP server that misbehaves, with %s', (name, connect) => {
  let client: ClosableClient
  beforeEach(async () => {
    client = await connect(misbehaving)
  })
  afterEach(() => client.close())

  async function session(timeoutMs = 60_000) {
    const log = createMemoryLog()
    const tools = createToolRun({ runId: 'r', log, timeoutMs }).tools(await mcpTools(client))
    return {
      log,
      call: async (tool: string, abortSignal?: AbortSignal): Promise<unknown> =>
        tools[tool]?.execute({}, { ...options, ...(abortSignal && { abortSignal }) }),
    }
  }

  const failure = async (call: Promise<unknown>): Promise<SmithersError> =>
    call.then(
      () => expect.unreachable('The call succeeded.'),
      (error: unknown) => error as SmithersError,
    )

  it('that dies in the middle of an answer fails the call, whose effect is unknown, and every later one', async () => {
    const { call, log } = await session()
    expect(await failure(call('die'))).toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(/^Tool "die" failed: .*[Cc]onnection closed/),
    })
    expect(await failure(call('cancelled'))).toMatchObject({ code: 'TOOL_FAILED' })
    expect(log.snapshot()).toMatchObject([
      { toolName: 'die', status: 'error', effect: 'unknown' },
      { toolName: 'cancelled', status: 'error' },
    ])
  })

  it('that answers another call than the one it was asked never answers this one', async () => {
    const { call } = await session(300)
    expect(await failure(call('answer-another'))).toMatchObject({
      code: 'TOOL_TIMEOUT',
      details: { timeoutMs: 300 },
    })
  })

  it('that answers twice is heard once', async () => {
    const { call } = await session()
    expect(await call('answer-twice')).toBe('first')
    expect(await call('cancelled')).toBe('')
  })

  it('that floods its client with notifications is still heard', async () => {
    const { call } = await session()
    expect(await call('flood')).toBe('after the flood')
  })

  it('that answers with nonsense fails the call', async () => {
    const { call } = await session()
    expect(await failure(call('nonsense'))).toMatchObject({ code: 'TOOL_FAILED' })
  })

  it('that never answers is left alone once the call is aborted', async () => {
    const { call, log } = await session()
    const controller = new AbortController()
    const pending = failure(call('hang', controller.signal))
    controller.abort(new Error('enough'))
    expect(await pending).toMatchObject({ code: 'TOOL_ABORTED' })
    expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'unknown' }])
    // The AI SDK's client has no way of telling the server.
    const told = name === 'the client of the MCP SDK' ? 'hang' : ''
    expect(await call('cancelled')).toBe(told)
  })

  it('that never answers gets a cancellation when the call times out', async () => {
    const { call } = await session(200)
    expect(await failure(call('hang'))).toMatchObject({ code: 'TOOL_TIMEOUT' })
    const told = name === 'the client of the MCP SDK' ? 'hang' : ''
    expect(await (await session()).call('cancelled')).toBe(told)
  })

  it('that takes a tool back fails its calls, and a new list lacks it', async () => {
    const { call } = await session()
    await call('remove')
    expect(await failure(call('hang'))).toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringContaining('Unknown tool: hang'),
    })
    expect(Object.keys(await mcpTools(client))).not.toContain('hang')
  })
})
