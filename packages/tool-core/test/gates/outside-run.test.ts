import { generateText, type ModelMessage } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  approvalFor,
  createToolRun,
  defineTool,
  type DefinedTool,
  type GateOptions,
  type ToolCallOptions,
} from '@smithers/tool-core'
import { aiSdkMajors } from '../fixtures/ai-sdk-majors.ts'
import { scriptedModel, type Turn } from '../fixtures/scripted-model.ts'
import { outcomes } from './call.ts'

const schema = z.object({ n: z.number() })

function gated(gates: GateOptions<{ n: number }>, fails = false) {
  const ran: number[] = []
  const warn = vi.fn<(message: string) => void>()
  const tool: DefinedTool<{ n: number }, number, 'gated'> = defineTool({
    name: 'gated',
    schema,
    ...gates,
    warn,
    execute: async ({ n }) => {
      ran.push(n)
      if (fails) throw new Error('down')
      return n
    },
  })
  return { tool, ran, warn }
}

const options = (...messages: ToolCallOptions['messages']): ToolCallOptions => ({
  toolCallId: crypto.randomUUID(),
  messages,
})
const three: Turn[] = [1, 2, 3].map((n) => [{ id: `c${n}`, tool: 'gated', input: { n } }])
const equal: Turn[] = [1, 2, 3].map((n) => [{ id: `c${n}`, tool: 'gated', input: { n: 1 } }])

describe.each(aiSdkMajors)('outside a run, in AI SDK $major', ({ major, generate, stream }) => {
  // With a prompt, streamText of AI SDK 5 makes all messages anew after its first step.
  const ways: [string, typeof generate][] = [['generateText', generate]]
  if (major !== 5) ways.push(['streamText', stream])

  it.each(ways)(
    '%s is held to the limit over its steps, each conversation for itself',
    async (_how, drive) => {
      const { tool, ran } = gated({ maxExecutionsPerRun: 1 })
      for (const times of [1, 2]) {
        const { errors } = await drive({ gated: tool }, three)
        expect(ran).toEqual(Array.from({ length: times }, () => 1))
        expect(errors).toHaveLength(2)
        for (const error of errors) expect(error).toContain('maxExecutionsPerRun')
      }
    },
  )

  it('the breaker opens and the cache answers over the steps of a conversation', async () => {
    const broken = gated({ retry: { circuitBreakerThreshold: 1 } }, true)
    const { errors } = await generate({ gated: broken.tool }, three)
    expect(broken.ran).toEqual([1])
    expect(errors.at(-1)).toContain('circuit breaker is open')
    for (const scope of ['invoke', 'run'] as const) {
      const cached = gated({ cache: { scope } })
      expect((await generate({ gated: cached.tool }, equal)).outputs).toEqual([1, 1, 1])
      expect(cached.ran).toEqual([1])
    }
  })
})

describe('outside a run', () => {
  it('calls without a conversation count together, and parallel ones cannot exceed the limit', async () => {
    const { tool, ran, warn } = gated({ maxExecutionsPerRun: 2 })
    const calls = Array.from({ length: 10 }, () => tool.execute({ n: 1 }, options()))
    const limited = Array.from({ length: 8 }, () => 'TOOL_LIMIT_REACHED')
    expect(await outcomes(calls)).toEqual([...limited, 'ok', 'ok'])
    expect(ran).toHaveLength(2)
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.lastCall?.[0]).toMatch(/outside a run, so its maxExecutionsPerRun can only/)
    await gated({ maxExecutionsPerRun: 2 }).tool.execute({ n: 1 }, options())
  })

  it('a shared system prompt does not make two conversations one', async () => {
    const { tool, ran } = gated({ maxExecutionsPerRun: 1 })
    const system = { role: 'system', content: 'be nice' }
    const user = (): { role: string; content: string } => ({ role: 'user', content: 'go' })
    const first = user()
    await tool.execute({ n: 1 }, options(system, first))
    await tool.execute({ n: 2 }, options(system, user()))
    // What the conversation has grown by does not matter, nor what it has lost.
    const reply = { role: 'assistant', content: [] }
    const calls = [options(system, first, reply), options(reply)]
    for (const each of calls) {
      await expect(tool.execute({ n: 3 }, each)).rejects.toMatchObject({
        code: 'TOOL_LIMIT_REACHED',
      })
    }
    expect(ran).toEqual([1, 2])
  })

  it("calls without a conversation do not read each other's results", async () => {
    const { tool, ran } = gated({ cache: true })
    for (const n of [1, 1]) await tool.execute({ n }, options())
    expect(ran).toEqual([1, 1])
    const question = { role: 'user', content: 'go' }
    for (const n of [1, 1]) await tool.execute({ n }, options(question))
    expect(ran).toEqual([1, 1, 1])
  })

  it('warns of nothing within a run, and of nothing for a tool without gates', async () => {
    const { tool, warn } = gated({ maxExecutionsPerRun: 1 })
    await createToolRun().tools({ tool }).tool.execute({ n: 1 }, options())
    const plain = gated({})
    await plain.tool.execute({ n: 1 }, options())
    expect([warn, plain.warn].flatMap(({ mock }) => mock.calls)).toEqual([])
  })

  it('a call that needs approval is refused, and the message says what it takes', async () => {
    const { tool, ran } = gated({ needsApproval: ({ n }) => n > 1 })
    expect(await tool.execute({ n: 1 }, options())).toBe(1)
    const refused = await tool.execute({ n: 2 }, options()).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      effect: 'none',
      message: expect.stringMatching(/outside a run.*createToolRun\(\{ runId, log \}\)/) as string,
    })
    expect((refused as Error).message).not.toContain('pauses')
    expect(ran).toEqual([1])
  })

  it('a call that a user of the AI SDK has approved runs, once', async () => {
    const { tool, ran } = gated({ needsApproval: true })
    const tools = { gated: tool }
    const prompt: ModelMessage = { role: 'user', content: 'go' }
    const asked = await generateText({
      model: scriptedModel(three),
      messages: [prompt],
      tools,
      toolApproval: approvalFor(tools),
    })
    const [request] = asked.content.filter((part) => part.type === 'tool-approval-request')
    expect(ran).toEqual([])
    const messages: ModelMessage[] = [
      prompt,
      ...asked.responseMessages,
      {
        role: 'tool',
        content: [
          {
            type: 'tool-approval-response',
            approvalId: request?.approvalId ?? '',
            approved: true,
          },
        ],
      },
    ]
    const submit = () =>
      generateText({
        model: scriptedModel(['done']),
        messages,
        tools,
        toolApproval: approvalFor(tools),
      })
    await submit()
    expect(ran).toEqual([1])
    await submit()
    expect(ran).toEqual([1])
  })
})
