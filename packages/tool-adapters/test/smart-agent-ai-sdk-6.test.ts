import { createTool } from '@smithers/tool-adapters'
import { createSmartAgent } from '@smithers/tool-adapters/smart-agent'
import { MockLanguageModelV3 } from 'ai-v6/test'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

vi.mock('ai', () => import('ai-v6'))

type Calls = readonly (readonly [tool: string, input: object])[]

/** A model of AI SDK 6 that calls tools from a list, and repeats the last turn. */
function scripted(turns: readonly Calls[]) {
  const prompts: string[] = []
  const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 }
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const turn = prompts.push(JSON.stringify(prompt))
      const calls = (turns[turn - 1] ?? turns.at(-1) ?? []).map(([toolName, input], index) => ({
        type: 'tool-call' as const,
        toolCallId: `call-${turn}-${index}`,
        toolName,
        input: JSON.stringify(input),
      }))
      return {
        content: calls.length === 0 ? [{ type: 'text' as const, text: 'It is the disk.' }] : calls,
        finishReason: {
          unified: calls.length === 0 ? ('stop' as const) : ('tool-calls' as const),
          raw: undefined,
        },
        usage: { inputTokens: tokens, outputTokens: tokens },
        warnings: [],
      }
    },
  })
  return { model, prompts }
}

const clock = createTool({
  name: 'clock',
  schema: z.object({}),
  func: () => 'noon',
})

describe('createSmartAgent with the AI SDK 6', () => {
  it('ends with response, and asks again with the whole conversation', async () => {
    const { model, prompts } = scripted([
      [['clock', {}]],
      [],
      [['response', { cause: 'disk full' }]],
    ])
    const outputSchema = z.object({ cause: z.string() })
    const { output, messages } = await createSmartAgent({
      model,
      outputSchema,
      tools: [clock],
    }).invoke({ prompt: 'Why?' })
    expect(output).toEqual({ cause: 'disk full' })
    expect(prompts).toHaveLength(3)
    for (const part of ['call-1-0', 'noon', 'It is the disk.']) {
      expect(prompts[2]).toContain(part)
    }
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
      'tool',
    ])
  })

  it('stops after maxSteps', async () => {
    const { model, prompts } = scripted([[['clock', {}]]])
    await createSmartAgent({ model, tools: [clock], maxSteps: 2 }).invoke({ prompt: 'Time?' })
    expect(prompts).toHaveLength(2)
  })
})
