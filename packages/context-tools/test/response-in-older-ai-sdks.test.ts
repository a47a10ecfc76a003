import { createResponse } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { generateText as generateText5 } from 'ai-v5'
import { MockLanguageModelV2 } from 'ai-v5/test'
import { generateText as generateText6 } from 'ai-v6'
import { MockLanguageModelV3 } from 'ai-v6/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const turns = [
  [
    ['response', { sum: 'three' }],
    ['note', { text: 'after an invalid answer' }],
  ],
  [
    ['note', { text: 'before' }],
    ['response', { sum: 3 }],
    ['note', { text: 'after' }],
    ['response', { sum: 4 }],
  ],
] as const

function callsOf(turn: number) {
  return (turns[turn] ?? []).map(([toolName, input], index) => ({
    type: 'tool-call' as const,
    toolCallId: `call_${turn}_${index}`,
    toolName,
    input: JSON.stringify(input),
  }))
}

function session() {
  const notes: string[] = []
  const note = defineTool({
    name: 'note',
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    acceptsContext: true,
    execute: ({ text }) => void notes.push(text),
  })
  const response = createResponse({ outputSchema: z.object({ sum: z.number() }) })
  const run = createToolRun({ runId: 'r', log: createMemoryLog() })
  return { notes, response, tools: run.tools({ note, response: response.tool }) }
}

describe('response in older majors of the AI SDK', () => {
  it('ends a run of version 5 with the first valid answer', async () => {
    const { notes, response, tools } = session()
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    let turn = 0
    const model = new MockLanguageModelV2({
      doGenerate: async () => ({
        content: callsOf(turn++),
        finishReason: 'tool-calls',
        usage,
        warnings: [],
      }),
    })
    const { stopWhen } = response
    const result = await generateText5({ model, prompt: 'go', tools, stopWhen })
    expect([response.answerOf(result), notes]).toEqual([
      { sum: 3 },
      ['after an invalid answer', 'before'],
    ])
  })

  it('ends a run of version 6 with the first valid answer', async () => {
    const { notes, response, tools } = session()
    const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 }
    let turn = 0
    const model = new MockLanguageModelV3({
      doGenerate: async () => ({
        content: callsOf(turn++),
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage: { inputTokens: tokens, outputTokens: tokens },
        warnings: [],
      }),
    })
    const { stopWhen } = response
    const result = await generateText6({ model, prompt: 'go', tools, stopWhen })
    expect([response.answerOf(result), notes]).toEqual([
      { sum: 3 },
      ['after an invalid answer', 'before'],
    ])
  })
})
