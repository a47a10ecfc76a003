import { defineTool, pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { attempt, order, shop, waiting } from '../fixtures/order-approval.ts'
import { call, outcomes } from '../gates/call.ts'

afterEach(() => vi.restoreAllMocks())

describe('needsApproval', () => {
  it('does not run the call, records the question and a row without effect, and pauses the run', async () => {
    const log = createMemoryLog()
    const run = attempt(log, 1)
    const { place, placed } = shop()
    await expect(call(run, place, order, { toolCallId: 'call_A' })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      effect: 'none',
    })
    expect(placed).toEqual([])
    const [approval] = await pendingApprovals({ log, runId: 'r' })
    expect(approval).toMatchObject({
      toolName: 'place_order',
      toolCallId: 'call_A',
      inputJson: '{"sku":"lamp","amount":7}',
      prompt: 'Order 7 of lamp?',
      status: 'pending',
    })
    expect(log.snapshot()).toMatchObject([
      { status: 'error', effect: 'none', toolCallId: 'call_A' },
    ])
    await expect(run.settle()).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      details: { approvals: [{ approvalId: approval?.id }] },
    })
  })

  it('lets siblings that need none go on, keeps many questions, and refuses calls after the pause', async () => {
    const log = createMemoryLog()
    const run = attempt(log, 1)
    const { place } = shop()
    let finish = (): void => {}
    const held = new Promise<void>((resolve) => (finish = resolve))
    const read = defineTool({
      name: 'read',
      schema: z.object({}),
      execute: () => held.then(() => 'text'),
    })
    const turn = outcomes([
      call(run, place, { sku: 'a', amount: 1 }),
      call(run, read, {}),
      call(run, place, { sku: 'b', amount: 2 }),
    ])
    await vi.waitFor(async () => expect(await pendingApprovals({ log })).toHaveLength(2), {
      timeout: 60_000,
    })
    expect(run.fatal).toBeUndefined()
    expect(run.abortSignal.aborted).toBe(false)
    finish()
    expect(await turn).toEqual(['TOOL_APPROVAL_REQUIRED', 'TOOL_APPROVAL_REQUIRED', 'ok'])
    await vi.waitFor(() => expect(run.abortSignal.aborted).toBe(true), { timeout: 60_000 })
    expect(run.fatal?.details['approvals']).toHaveLength(2)
    await expect(call(run, read, {})).rejects.toMatchObject({ code: 'TOOL_ABORTED' })
  })

  it('tells the agent why a call was rejected, in every later attempt', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({
      log,
      id: await waiting(log),
      approved: false,
      comment: 'Too expensive.',
    })
    for (const number of [2, 3]) {
      await expect(call(attempt(log, number), place, order)).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_REJECTED',
        message: 'Tool call rejected: Too expensive.',
      })
    }
    expect(placed).toEqual([])
  })

  it('counts a request without a decision in time as rejected, and refuses late decisions', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop({ approvalTtlMs: 1000 })
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const later = Date.now() + 1000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    await expect(resolveToolApproval({ log, id, approved: true })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_DECIDED',
    })
    expect(await pendingApprovals({ log })).toEqual([])
    await expect(call(attempt(log, 2), place, order)).rejects.toThrow(
      /^Tool call rejected: it was not approved before/,
    )
    expect(placed).toEqual([])
  })

  it('decides by arguments, and counts a function that throws as yes', async () => {
    const log = createMemoryLog()
    const risky = defineTool({
      name: 'risky',
      schema: z.object({ n: z.number() }),
      needsApproval: ({ n }, ctx) => {
        if (n < 0) throw new Error('cannot tell')
        return n > 10 && ctx.toolName === 'risky'
      },
      execute: ({ n }) => n,
    })
    const run = attempt(log, 1)
    const results = await outcomes([-1, 5, 11].map((n) => call(run, risky, { n })))
    expect(results).toEqual(['TOOL_APPROVAL_REQUIRED', 'TOOL_APPROVAL_REQUIRED', 'ok'])
  })

  it('fails closed with a log that cannot keep approvals', async () => {
    const { approvals: _none, ...log } = createMemoryLog()
    const { place, placed } = shop()
    await expect(call(attempt(log, 1), place, order)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
    })
    expect(placed).toEqual([])
  })
})
