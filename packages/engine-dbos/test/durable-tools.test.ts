import { describe, expect, test } from 'vitest'
import { durableTools } from '@smithers/engine-dbos'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { chargeTool } from './fixtures/charge-tool.ts'
import { describeWithServer, prepareTrial } from './fixtures/trial.ts'

describeWithServer('durableTools', () => {
  test('keeps calls apart whose ids the provider has given twice, also after a kill', async () => {
    await using trial = await prepareTrial(5, 'alike')
    const killed = await trial.run({ dieAt: { moment: 'after-finish', charge: 3 } })
    expect(killed.signal, killed.stderr).toBe('SIGKILL')
    const { result, stderr } = await trial.run()
    expect(trial.payments.charges, stderr).toEqual(['ann', 'bob', 'ann'])
    expect(result?.steps.filter((name) => name.startsWith('tool '))).toEqual([
      'tool charge call_0',
      'tool charge call_0#2',
      'tool charge call_0#3',
    ])
  })
})

describe('durableTools outside a workflow', () => {
  test('is refused, since its calls could not be steps', () => {
    const tools = { charge: chargeTool('http://127.0.0.1:1/', false) }
    expect(() => durableTools(tools, { log: createMemoryLog() })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })
})
