import { generateText, stepCountIs } from 'ai'
import { describe, expect, test } from 'vitest'
import { createToolRun, type ToolRun } from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { createChargeTool } from '../fixtures/charge-tool.ts'
import { type Charge, StripeLikeProvider } from '../fixtures/provider.ts'
import { scriptedModel } from '../fixtures/scripted-model.ts'

const ann = { customer: 'ann', amount: 100 }
const marker = '[smithers:tool-resume-warning]'

/** What the model was shown as the result of one charge, and what the program got. */
async function chargeIn(run: ToolRun, input: Charge): Promise<{ shown: string; output: unknown }> {
  const model = scriptedModel([[{ id: 'call', tool: 'charge', input }]])
  const charge = createChargeTool(new StripeLikeProvider())
  const { steps } = await generateText({
    model,
    prompt: 'charge ann',
    tools: run.tools({ charge }),
    stopWhen: stepCountIs(2),
  })
  const [result] = steps.flatMap(({ toolResults }) => toolResults)
  return {
    shown: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1)),
    output: result?.output,
  }
}

function attempt(log: MemoryLog, number: number): ToolRun {
  return createToolRun({ runId: 'r', log, attempt: number })
}

describe('the result of a repeated call', () => {
  test('tells an agent that was not warned, and leaves the output alone', async () => {
    const log = createMemoryLog()
    const first = await chargeIn(attempt(log, 1), ann)
    expect(first.shown).not.toContain(marker)
    const second = await chargeIn(attempt(log, 2), ann)
    expect(second.shown).toContain(marker)
    expect(second.shown).toContain(log.snapshot()[0]?.idempotencyKey)
    expect(second.output).toBe('ch_1')
  })

  test('does not repeat what the warning has said', async () => {
    const log = createMemoryLog()
    await chargeIn(attempt(log, 1), ann)
    const run = attempt(log, 2)
    expect(await run.retryWarning()).toContain('ann')
    expect((await chargeIn(run, ann)).shown).not.toContain(marker)
  })

  test('shows both sets of arguments of a call that may be a rewording', async () => {
    const log = createMemoryLog()
    await chargeIn(attempt(log, 1), ann)
    const { shown } = await chargeIn(attempt(log, 2), { customer: 'Ann', amount: 100 })
    expect(shown).toContain(marker)
    // The arguments stand in a text within JSON, so their quotes are escaped.
    for (const name of ['ann', 'Ann'])
      expect(shown).toContain(String.raw`{\"customer\":\"${name}\"`)
  })
})
