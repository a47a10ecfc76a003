import { createResponse } from '@smithers/context-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const outputSchema = z.object({ summary: z.string(), score: z.number() })
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

type Call = readonly [toolName: string, input: object]

function model(turns: readonly (readonly Call[])[]): MockLanguageModelV4 {
  let turn = 0
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const calls = turns[turn] ?? []
      turn += 1
      return {
        content: calls.map(([toolName, input], index) => ({
          type: 'tool-call' as const,
          toolCallId: `call_${turn}_${index}`,
          toolName,
          input: JSON.stringify(input),
        })),
        finishReason: { unified: 'tool-calls' as const, raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
}

/** A log whose answers come later, as those of a server do. */
function late(log: ToolCallLog): ToolCallLog {
  return {
    ...log,
    start: async (...given) => {
      await new Promise((resolve) => setImmediate(resolve))
      return log.start(...given)
    },
    list: async (query) => {
      await new Promise((resolve) => setImmediate(resolve))
      return log.list(query)
    },
  }
}

async function answer(turns: readonly (readonly Call[])[], wrap = (log: ToolCallLog) => log) {
  const log = createMemoryLog()
  const effects: string[] = []
  const note = defineTool({
    name: 'note',
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    acceptsContext: true,
    execute: ({ text }) => void effects.push(text),
  })
  const response = createResponse({ outputSchema })
  const run = createToolRun({ runId: 'r', log: wrap(log) })
  const scripted = model(turns)
  const result = await generateText({
    model: scripted,
    prompt: 'go',
    tools: run.tools({ note, response: response.tool }),
    stopWhen: response.stopWhen,
  })
  const rows = log.snapshot().map(({ toolName, status }) => `${toolName} ${status}`)
  return {
    effects,
    rows,
    output: response.answerOf(result),
    turns: scripted.doGenerateCalls.length,
  }
}

const first = { summary: 'first', score: 1 }
const second = { summary: 'second', score: 2 }

describe('response', () => {
  it('ends the run with the first valid answer', async () => {
    const { output, turns } = await answer([[['response', first]], [['note', { text: 'never' }]]])
    expect([output, turns]).toEqual([first, 1])
  })

  it.each([
    ['a log that answers at once', (log: ToolCallLog) => log],
    ['a log that answers later', late],
  ])('counts once in a turn and runs no sibling after it, with %s', async (_what, wrap) => {
    const turn = [
      ['note', { text: 'before' }],
      ['response', first],
      ['note', { text: 'after' }],
      ['response', second],
    ] as const
    const { effects, rows, output } = await answer([turn], wrap)
    expect(effects).toEqual(['before'])
    expect(output).toEqual(first)
    expect(rows.toSorted()).toEqual([
      'note error',
      'note success',
      'response error',
      'response success',
    ])
  })

  it('does not end with an invalid answer: its siblings run, and the model learns what is wrong', async () => {
    const { effects, output, turns } = await answer([
      [
        ['response', { summary: 'no score' }],
        ['note', { text: 'after' }],
      ],
      [['response', second]],
    ])
    expect(effects).toEqual(['after'])
    expect([output, turns]).toEqual([second, 2])
  })

  it('takes the second answer of a turn when the first is invalid', async () => {
    const { output } = await answer([
      [
        ['response', { summary: 1 }],
        ['response', second],
        ['note', { text: 'never' }],
      ],
    ])
    expect(output).toEqual(second)
  })

  it('wraps a schema that is no object, and unwraps the answer', async () => {
    const response = createResponse({ outputSchema: z.array(z.number()) })
    const result = await generateText({
      model: model([[['response', { value: [1, 2] }]]]),
      prompt: 'go',
      tools: createToolRun({ log: createMemoryLog() }).tools({ response: response.tool }),
      stopWhen: response.stopWhen,
    })
    expect(response.answerOf(result)).toEqual([1, 2])
  })
})
