import { defineTool, pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { attempt, order, shop, waiting } from '../fixtures/order-approval.ts'
import { call, outcomes } from '../gates/call.ts'

afterEach(() => vi.restoreAllMocks())

describe('needsApproval', () => {
  it('runs an approved call in the next attempt, once, with the key of the call that asked', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const [asked] = log.snapshot()
    await resolveToolApproval({ log, id: await waiting(log), approved: true, decidedBy: 'mia' })
    expect(await call(attempt(log, 2), place, order)).toBe('placed 7')
    expect(placed).toEqual([{ args: order, key: asked?.idempotencyKey }])
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'used', decidedBy: 'mia' }])
  })

  it('asks again before a second execution of the same call, and says that it has run', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    await call(attempt(log, 2), place, order)
    expect(await outcomes([call(attempt(log, 3), place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
    ])
    expect(placed).toHaveLength(1)
    const [again] = await pendingApprovals({ log })
    expect(again?.prompt).toMatch(/has run before, and it succeeded.*Order 7 of lamp/)
  })

  it('keeps the approval for a call that did not run after all', async () => {
    const log = createMemoryLog()
    const state = { up: false }
    const flaky = defineTool({
      name: 'flaky',
      schema: z.object({ n: z.number() }),
      needsApproval: ({ n }) => n === 2,
      retry: { circuitBreakerThreshold: 1, circuitBreakerCooldownMs: 0 },
      execute: () => {
        if (!state.up) throw new Error('down')
        return 'ok'
      },
    })
    const first = attempt(log, 1)
    await outcomes([call(first, flaky, { n: 2 })])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    vi.spyOn(Date, 'now').mockReturnValue(5)
    const second = attempt(log, 2)
    await outcomes([call(second, flaky, { n: 1 })])
    vi.spyOn(Date, 'now').mockReturnValue(4)
    expect(await outcomes([call(second, flaky, { n: 2 })])).toEqual(['TOOL_CIRCUIT_OPEN'])
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'approved' }])
    state.up = true
    vi.restoreAllMocks()
    expect(await call(second, flaky, { n: 2 })).toBe('ok')
  })

  it('keeps two equal calls of one turn apart: each needs its own approval', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    const first = attempt(log, 1)
    await outcomes([call(first, place, order), call(first, place, order)])
    const pending = await pendingApprovals({ log })
    expect(pending).toHaveLength(2)
    await resolveToolApproval({ log, id: pending[0]?.id ?? '', approved: true })
    const second = attempt(log, 2)
    expect(await outcomes([call(second, place, order), call(second, place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
      'ok',
    ])
    expect(placed).toHaveLength(1)
  })
})
