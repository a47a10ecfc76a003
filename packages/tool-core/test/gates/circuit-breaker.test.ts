import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { call, outcomes } from './call.ts'

const schema = z.object({ n: z.number() })

function service(threshold: number, cooldownMs = 1000) {
  const state = { up: false, executions: 0, hold: Promise.resolve() }
  const tool = defineTool({
    name: 'service',
    schema,
    retry: { circuitBreakerThreshold: threshold, circuitBreakerCooldownMs: cooldownMs },
    execute: async ({ n }) => {
      state.executions += 1
      await state.hold
      if (!state.up) throw new Error('down')
      return n
    },
  })
  return { state, tool }
}

describe('circuitBreakerThreshold', () => {
  afterEach(() => vi.restoreAllMocks())

  it('opens once under parallel failures, half-opens for one call, and closes on its success', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { state, tool } = service(3)
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_000_000)
    await outcomes(Array.from({ length: 10 }, (_, n) => call(run, tool, { n })))
    expect(state.executions).toBe(10)

    const refused = await outcomes(
      Array.from({ length: 10 }, (_, n) => call(run, tool, { n: 100 + n })),
    )
    expect(refused).toEqual(Array.from({ length: 10 }, () => 'TOOL_CIRCUIT_OPEN'))
    expect(state.executions).toBe(10)
    expect(
      log
        .snapshot()
        .slice(10)
        .every(({ effect }) => effect === 'none'),
    ).toBe(true)

    // The cool-down is over: of five calls one tries, and its failure opens the breaker again for the others.
    now.mockReturnValue(1_001_000)
    const halfOpen = await outcomes(
      Array.from({ length: 5 }, (_, n) => call(run, tool, { n: 200 + n })),
    )
    expect(state.executions).toBe(11)
    expect(halfOpen.filter((code) => code === 'TOOL_CIRCUIT_OPEN')).toHaveLength(4)

    now.mockReturnValue(1_002_000)
    state.up = true
    expect(
      await outcomes(Array.from({ length: 5 }, (_, n) => call(run, tool, { n: 300 + n }))),
    ).toEqual(Array.from({ length: 5 }, () => 'ok'))
    expect(state.executions).toBe(16)
  })

  it('counts only failures in a row', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { state, tool } = service(2)
    for (const up of [false, true, false, true, false]) {
      state.up = up
      await outcomes([call(run, tool, { n: state.executions })])
    }
    expect(state.executions).toBe(5)
    state.up = true
    expect(await outcomes([call(run, tool, { n: 99 })])).toEqual(['ok'])
  })

  it('says when it tries again, and belongs to the run', async () => {
    const { tool } = service(1, 90_000)
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    await outcomes([call(run, tool, { n: 1 })])
    await expect(call(run, tool, { n: 2 })).rejects.toThrow(
      /circuit breaker is open.*tried again in (89|90) s/,
    )
    const other = createToolRun({ runId: 'other', log: createMemoryLog() })
    await expect(call(other, tool, { n: 3 })).rejects.toThrow('down')
  })

  describe('circuitBreakerScope', () => {
    const failing = (scope?: 'run' | 'invoke') =>
      defineTool({
        name: 'failing',
        schema: z.object({ n: z.number() }),
        retry: {
          circuitBreakerThreshold: 2,
          ...(scope !== undefined && { circuitBreakerScope: scope }),
        },
        execute: () => {
          throw new Error('down')
        },
      })
    const parts = [
      ['another task', { nodeId: 'other' }],
      ['another attempt', { attempt: 2 }],
      ['another iteration', { iteration: 1 }],
    ] as const

    it.each(parts)('leaves the breaker of %s closed', async (_which, part) => {
      const log = createMemoryLog()
      const tool = failing()
      const run = createToolRun({ runId: 'r', log })
      for (const n of [1, 2]) await outcomes([call(run, tool, { n })])
      await expect(call(run, tool, { n: 3 })).rejects.toMatchObject({ code: 'TOOL_CIRCUIT_OPEN' })
      const other = createToolRun({ runId: 'r', log, ...part })
      await expect(call(other, tool, { n: 4 })).rejects.toThrow('down')
    })

    it.each(parts)("counts the failures of %s with 'run'", async (_which, part) => {
      const log = createMemoryLog()
      const tool = failing('run')
      const run = createToolRun({ runId: 'r', log })
      const other = createToolRun({ runId: 'r', log, ...part })
      await outcomes([call(run, tool, { n: 1 })])
      await outcomes([call(other, tool, { n: 2 })])
      await expect(call(run, tool, { n: 3 })).rejects.toMatchObject({ code: 'TOOL_CIRCUIT_OPEN' })
    })
  })

  it('stays open for the rest of the attempt with an endless cool-down', async () => {
    const { tool, state } = service(1, Infinity)
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_000_000)
    await outcomes([call(run, tool, { n: 1 })])
    now.mockReturnValue(1_000_000 + 365 * 86_400_000)
    await expect(call(run, tool, { n: 2 })).rejects.toThrow(/rest of the attempt/)
    expect(state.executions).toBe(1)
  })

  it('does not count calls that were aborted', async () => {
    const { state, tool } = service(1)
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const controller = new AbortController()
    let release = (): void => {}
    state.hold = new Promise((resolve) => (release = resolve))
    const pending = call(run, tool, { n: 1 }, { abortSignal: controller.signal })
    await vi.waitFor(() => expect(state.executions).toBe(1), { timeout: 60_000 })
    controller.abort()
    release()
    await expect(pending).rejects.toThrow('down')
    state.up = true
    expect(await outcomes([call(run, tool, { n: 2 })])).toEqual(['ok'])
  })
})
