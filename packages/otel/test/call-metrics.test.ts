import { describe, expect, test } from 'vitest'
import { call, chargeTool } from './fixtures/shop-tools.ts'
import { runOf, watching } from './fixtures/watched-runs.ts'

describe('metrics', () => {
  test('count calls by tool, outcome and code, and never by run, task or key', async () => {
    const recorder = watching()
    const tools = runOf({ nodeId: 'billing' }).tools({ charge: chargeTool() })
    await tools.charge.execute({ amount: 1 }, call())
    await tools.charge.execute({ amount: 2 }, call())
    await tools.charge.execute({ amount: 'x' } as never, call()).catch(() => undefined)
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'charge' }
    expect(await recorder.points('smithers.tool.calls')).toEqual([
      { attributes: { ...tool, 'smithers.call.outcome': 'success' }, value: 2 },
      {
        attributes: { ...tool, 'smithers.call.outcome': 'refused', 'error.type': 'INVALID_INPUT' },
        value: 1,
      },
    ])
    expect(await recorder.points('gen_ai.execute_tool.duration')).toMatchObject([
      { attributes: tool, value: { count: 2 } },
    ])
    expect(await recorder.points('smithers.calls.running')).toEqual([
      { attributes: tool, value: 0 },
    ])
    // Two starts and two ends, and the start and end of the refused call.
    expect(await recorder.points('smithers.log.write')).toMatchObject([
      { attributes: tool, value: { count: 6 } },
    ])
  })
})
