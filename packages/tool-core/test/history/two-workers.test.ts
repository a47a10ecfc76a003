import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ann } from '../fixtures/charge-attempts.ts'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

describe('two workers with the same call', () => {
  test.each(['warn', 'reuse', 'block'] as const)(
    'run it once under %s: the loser gets the output of the winner',
    async (onRetry) => {
      const log = createMemoryLog()
      const entered = deferred()
      const release = deferred()
      let runs = 0
      const execute = async (_args: unknown, _ctx: unknown): Promise<string> => {
        entered.resolve()
        await release.promise
        runs += 1
        return `ran ${runs}`
      }
      const slow = defineTool({
        name: 'slow',
        schema: z.object({}),
        sideEffect: true,
        onRetry,
        execute,
      })
      const [a, b] = [1, 2].map(() => createToolRun({ runId: 'r', log }).tools({ slow }).slow)
      const winner = a?.execute({}, callOptions())
      await entered.promise
      const loser = b?.execute({}, callOptions())
      release.resolve()
      expect(await Promise.all([winner, loser])).toEqual(['ran 1', 'ran 1'])
    },
  )

  test('tell the loser that the call is in progress when it takes too long', async () => {
    const log = createMemoryLog()
    const release = deferred()
    const slow = defineTool({
      name: 'slow',
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, _ctx) => release.promise,
    })
    const [a, b] = [1, 2].map(() => createToolRun({ runId: 'r', log, timeoutMs: 20 }))
    const winner = a?.tools({ slow }).slow.execute({}, callOptions())
    await expect(b?.tools({ slow }).slow.execute({}, callOptions())).rejects.toMatchObject({
      code: 'TOOL_CALL_IN_PROGRESS',
      effect: 'none',
    })
    release.resolve()
    await winner
  })

  test('take a call over at once when its process is dead, whatever its lease says', async () => {
    const log = createMemoryLog()
    const provider = new StripeLikeProvider()
    const charge = createChargeTool(provider)
    await createToolRun({ runId: 'r', log }).tools({ charge }).charge.execute(ann, callOptions())
    const [row] = log.snapshot()
    if (row === undefined) throw new Error('no row')
    const crashed = createMemoryLog()
    const [host] = /^.*(?=:\d+:\d+$)/.exec(row.ownerId ?? '') ?? []
    crashed.start(
      { ...row, ownerId: `${host}:4194304:1`, leaseExpiresAtMs: Date.now() + 3_600_000 },
      { durability: 'relaxed', claim: 'inflight' },
    )
    const run = createToolRun({ runId: 'r', log: crashed, attempt: 2 })
    // The provider has kept the key, so the same charge is not made twice.
    expect(await run.tools({ charge }).charge.execute(ann, callOptions())).toBe('ch_1')
    expect(provider.charges).toEqual([ann])
    expect(crashed.snapshot()).toMatchObject([
      { status: 'error', effect: 'unknown' },
      { status: 'success', attempt: 2 },
    ])
  })
})
