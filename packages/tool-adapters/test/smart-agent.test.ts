import { createMemoryLog } from '@smithers/log-memory'
import { createTool } from '@smithers/tool-adapters'
import { createSmartAgent } from '@smithers/tool-adapters/smart-agent'
import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

type Reply = string | readonly (readonly [tool: string, input: object])[]

/** A model of AI SDK 7 that answers from a list. `offered` holds the names of the tools of each turn. */
function scripted(replies: readonly Reply[]) {
  const offered: string[][] = []
  const tokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 }
  const model = new MockLanguageModelV4({
    doGenerate: async ({ tools = [] }) => {
      const reply = replies[offered.push(tools.map(({ name }) => name)) - 1] ?? 'done'
      return {
        content:
          typeof reply === 'string'
            ? [{ type: 'text' as const, text: reply }]
            : reply.map(([toolName, input], index) => ({
                type: 'tool-call' as const,
                toolCallId: `call-${offered.length}-${index}`,
                toolName,
                input: JSON.stringify(input),
              })),
        finishReason: {
          unified: typeof reply === 'string' ? ('stop' as const) : ('tool-calls' as const),
          raw: undefined,
        },
        usage: { inputTokens: tokens, outputTokens: tokens },
        warnings: [],
      }
    },
  })
  return { model, offered }
}

const search = createTool({
  name: 'search_docs',
  schema: z.object({ query: z.string() }),
  func: async ({ query }) => ({ hits: [`result for ${query}`] }),
  cache: true,
})

describe('createSmartAgent', () => {
  it('gives the agent a plan and outputs that were cut, and no response without outputSchema', async () => {
    const { model, offered } = scripted(['Hello.'])
    const { text, output } = await createSmartAgent({ model, tools: [search] }).invoke({
      prompt: 'Hi.',
    })
    expect(text).toBe('Hello.')
    expect(output).toBeUndefined()
    expect(offered).toEqual([['search_docs', 'manage_todo_list', 'get_tool_response']])
  })

  it('injects response with outputSchema, and ends with its first valid call', async () => {
    const { model, offered } = scripted([
      [['manage_todo_list', { operation: 'read' }]],
      [['response', { cause: 'disk full' }]],
      'never said',
    ])
    const outputSchema = z.object({ cause: z.string() })
    const { output } = await createSmartAgent({ model, outputSchema }).invoke({ prompt: 'Why?' })
    expect(output).toEqual({ cause: 'disk full' })
    expect(offered).toHaveLength(2)
    expect(offered[0]).toEqual(['manage_todo_list', 'get_tool_response', 'response'])
  })

  it('asks again for response, and says so when it never comes', async () => {
    const outputSchema = z.object({ cause: z.string() })
    const late = scripted(['It is the disk.', [['response', { cause: 'disk full' }]]])
    const { output } = await createSmartAgent({ model: late.model, outputSchema }).invoke({
      prompt: 'Why?',
    })
    expect(output).toEqual({ cause: 'disk full' })
    const never = scripted([])
    await expect(
      createSmartAgent({ model: never.model, outputSchema }).invoke({ prompt: 'Why?' }),
    ).rejects.toMatchObject({ code: 'TASK_OUTPUT_INVALID' })
    expect(never.offered).toHaveLength(3)
  })

  it('adapts objects of other libraries, in a list and by name', async () => {
    const foreign = { schema: z.object({}), cache: true, func: () => 'noon' }
    for (const tools of [[{ ...foreign, name: 'clock' }], { clock: foreign }]) {
      const { model } = scripted([[['clock', {}]]])
      const { state } = await createSmartAgent({ model, tools }).invoke({ prompt: 'Time?' })
      expect(state.toolHistory).toMatchObject([{ toolName: 'clock', output: 'noon' }])
    }
  })

  it('flags what the cache answered, and starts with an empty cache in the next invocation', async () => {
    const call: Reply = [['search_docs', { query: 'x' }]]
    const log = createMemoryLog()
    const { model } = scripted([call, call, 'done', call, 'done'])
    const agent = createSmartAgent({ model, tools: [search], log })
    const first = await agent.invoke({ prompt: 'Search.', runId: 'r' })
    expect(first.state.toolHistory.map(({ fromCache }) => fromCache)).toEqual([false, true])
    const second = await agent.invoke({ prompt: 'Search.', runId: 'r' })
    expect(second.state.toolHistory.map(({ attempt, fromCache }) => [attempt, fromCache])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ])
  })

  it('pauses for an approval, and continues when it is invoked again', async () => {
    const written: string[] = []
    const write = createTool({
      name: 'dangerous_write',
      schema: z.object({ path: z.string() }),
      needsApproval: true,
      approvalPrompt: 'Confirm the write is safe.',
      func: ({ path }, ctx) => written.push(`${path} ${ctx.attempt}`),
    })
    const log = createMemoryLog()
    const call: Reply = [['dangerous_write', { path: 'a' }]]
    const { model } = scripted([call, call, 'written'])
    const agent = createSmartAgent({ model, tools: [write], log })
    await expect(agent.invoke({ prompt: 'Write.', runId: 'r' })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(written).toEqual([])
    const [asked] = await pendingApprovals({ log })
    await resolveToolApproval({ log, id: asked?.id ?? '', approved: true })
    const { text } = await agent.invoke({ prompt: 'Write.', runId: 'r' })
    expect(text).toBe('written')
    expect(written).toHaveLength(1)
  })

  it('opens a breaker for one invocation', async () => {
    let tries = 0
    const broken = createTool({
      name: 'broken',
      schema: z.object({}),
      retry: { circuitBreakerThreshold: 1 },
      func: () => {
        tries += 1
        throw new Error('down')
      },
    })
    const call: Reply = [['broken', {}]]
    const { model } = scripted([call, call, 'done', call, 'done'])
    const agent = createSmartAgent({ model, tools: [broken] })
    await agent.invoke({ prompt: 'Go.', runId: 'r' })
    expect(tries).toBe(1)
    const { state } = await agent.invoke({ prompt: 'Go.', runId: 'r' })
    expect(tries).toBe(2)
    expect(state.toolHistory[1]?.error).toMatchObject({ code: 'TOOL_CIRCUIT_OPEN' })
  })

  it.each([
    ['a tool named like one that it brings', { response: search }, /tool "response" of its own/],
    ['an object without a schema', { clock: { func: () => 'noon' } }, /no Zod 4 schema/],
    ['a function', { clock: () => 'noon' }, /is a function/],
  ])('refuses %s by name', async (_what, tools, message) => {
    const { model, offered } = scripted([])
    const outputSchema = z.object({})
    const invoke = async () =>
      createSmartAgent({ model, outputSchema, tools: tools as never }).invoke({ prompt: 'Go.' })
    await expect(invoke()).rejects.toThrow(message)
    expect(offered).toEqual([])
  })
})
