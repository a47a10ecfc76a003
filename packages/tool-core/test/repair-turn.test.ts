import { generateText, Output, stepCountIs } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, type ToolContext } from '@smithers/tool-core'
import { type ScriptedCall, scriptedModel } from './fixtures/scripted-model.ts'

// The published system parses the options of a run and hands them to the tools of no turn.

describe('the options of a run', () => {
  test('reach every tool in every turn, also in one that repairs a structured output', async () => {
    const seen: Pick<ToolContext, 'rootDir' | 'allowNetwork' | 'maxOutputBytes' | 'timeoutMs'>[] =
      []
    const look = defineTool({
      name: 'look',
      schema: z.object({}),
      execute: (_args, { rootDir, allowNetwork, maxOutputBytes, timeoutMs }) => {
        seen.push({ rootDir, allowNetwork, maxOutputBytes, timeoutMs })
        return 'seen'
      },
    })
    const options = { rootDir: '/srv', allowNetwork: true, maxOutputBytes: 123, timeoutMs: 456 }
    const run = createToolRun(options)
    const settings = {
      model: scriptedModel([callOf('1'), callOf('2'), 'not JSON', callOf('3'), '{"ok":true}']),
      tools: run.tools({ look }),
      output: Output.object({ schema: z.object({ ok: z.boolean() }) }),
      stopWhen: stepCountIs(5),
    }
    const prompt = 'look twice, then answer'
    await expect(generateText({ ...settings, prompt })).rejects.toThrow('No object generated')
    const repaired = await generateText({
      ...settings,
      messages: [
        { role: 'user', content: prompt },
        { role: 'assistant', content: 'not JSON' },
        { role: 'user', content: 'Answer with the JSON object alone.' },
      ],
    })
    expect(repaired.output).toEqual({ ok: true })
    expect(seen).toEqual([options, options, options])
  })
})

function callOf(id: string): ScriptedCall[] {
  return [{ id, tool: 'look', input: {} }]
}
