import { streamText, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../src/demo/scripted-model.ts'
import type { Script } from '../../src/demo/scripted-model.ts'

function* askTwice(task: string): Script {
  const first = yield { text: `Task: ${task}`, toolName: 'double', input: { number: 4 } }
  const second = yield { text: '', toolName: 'double', input: { number: -1 } }
  return `${first.text}, ${second.failed ? 'failed' : 'fine'}: ${second.text}`
}

describe('createScriptedModel', () => {
  test('resumes the script with what the tools really answered', async () => {
    const { model, conversation } = createScriptedModel(askTwice)
    const double = tool({
      inputSchema: z.object({ number: z.number() }),
      async execute({ number }) {
        if (number < 0) throw new Error('It is negative.')
        return String(number * 2)
      },
    })
    const result = streamText({
      model,
      tools: { double },
      prompt: 'Count.',
      stopWhen: ({ steps }) => steps.length > 5,
    })
    const texts: string[] = []
    for await (const part of result.fullStream)
      if (part.type === 'text-delta') texts.push(part.text)
    expect(texts.filter((text) => text !== '')).toEqual([
      'Task: Count.',
      '8, failed: Error: It is negative.',
    ])
    expect(conversation()).toContain('It is negative.')
  })
})
