import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateText, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../src/demo/scripted-model.ts'
import type { Script } from '../../src/demo/scripted-model.ts'
import { temporaryFolder } from '../../../../packages/cli/test/fixtures/temporary-folder.ts'

function* askTwice(task: string): Script {
  const first = yield { text: `Task: ${task}`, toolName: 'double', input: { number: 4 } }
  const second = yield { text: '', toolName: 'double', input: { number: -1 } }
  return { first: first.text, second: `${second.failed ? 'failed' : 'fine'}: ${second.text}` }
}

describe('createScriptedModel', () => {
  test('resumes the script with what the tools really answered', async () => {
    const transcript = join(temporaryFolder(), 'transcript')
    const model = createScriptedModel(askTwice, transcript)
    const double = tool({
      inputSchema: z.object({ number: z.number() }),
      async execute({ number }) {
        if (number < 0) throw new Error('It is negative.')
        return String(number * 2)
      },
    })
    const ask = () =>
      generateText({
        model,
        tools: { double },
        prompt: 'Count.',
        stopWhen: ({ steps }) => steps.length > 5,
      })
    // A conversation that begins anew begins the script anew.
    for (const { text, steps } of [await ask(), await ask()]) {
      expect(steps[0]?.text).toBe('Task: Count.')
      expect(JSON.parse(text)).toEqual({ first: '8', second: 'failed: Error: It is negative.' })
    }
    expect(readFileSync(transcript, 'utf8').match(/It is negative\./g)).toHaveLength(2)
  })
})
