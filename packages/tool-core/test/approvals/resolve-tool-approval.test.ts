import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { attempt, order, shop, waiting } from '../fixtures/order-approval.ts'
import { call, outcomes } from '../gates/call.ts'

describe('resolveToolApproval', () => {
  it('takes the id of the call as well, and refuses ids that mean nothing or too much', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    const one = createToolRun({ runId: 'one', log })
    const two = createToolRun({ runId: 'two', log })
    await outcomes([one, two].map((run) => call(run, place, order, { toolCallId: 'call_1' })))
    await expect(resolveToolApproval({ log, id: 'call_1', approved: true })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    const decided = await resolveToolApproval({ log, id: 'call_1', runId: 'two', approved: true })
    expect(decided).toMatchObject({ runId: 'two', status: 'approved' })
    await expect(resolveToolApproval({ log, id: 'nothing', approved: true })).rejects.toMatchObject(
      {
        code: 'TOOL_APPROVAL_NOT_FOUND',
      },
    )
  })

  it('decides for no run by an id that calls of two runs share', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    for (const runId of ['a', 'b']) {
      const run = createToolRun({ runId, log })
      await outcomes([call(run, place, order, { toolCallId: 'call_0' })])
    }
    const [first] = await pendingApprovals({ log, runId: 'a' })
    await resolveToolApproval({ log, id: first?.id ?? '', approved: false })
    await expect(resolveToolApproval({ log, id: 'call_0', approved: true })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/2 calls of 2 runs have the id call_0/),
    })
    await resolveToolApproval({ log, runId: 'b', id: 'call_0', approved: true })
    expect(log.approvals.list({})).toMatchObject([{ status: 'approved' }, { status: 'rejected' }])
  })

  it('lists every pending approval, the oldest first, however many there are', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(createToolRun({ runId: 'first', log }), place, order)])
    const [row] = await pendingApprovals({ log })
    for (let index = 0; index < 1200; index += 1) {
      log.approvals.request({ ...row!, id: `more-${index}`, runId: `more-${index}` })
    }
    const pending = await pendingApprovals({ log })
    expect(pending).toHaveLength(1201)
    expect(pending[0]?.runId).toBe('first')
  })

  it('lets one of two deciders win, and tells the other what was decided', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const results = await Promise.allSettled([
      resolveToolApproval({ log, id, approved: true, decidedBy: 'mia' }),
      resolveToolApproval({ log, id, approved: false, decidedBy: 'tom' }),
    ])
    const [winner] = results.filter(({ status }) => status === 'fulfilled')
    const loser = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(winner).toBeDefined()
    expect(loser.reason).toMatchObject({ code: 'TOOL_APPROVAL_DECIDED' })
    const [row] = (await log.approvals?.list({ id })) ?? []
    expect((loser.reason as Error).message).toContain(`${row?.status} by ${row?.decidedBy}`)
  })

  it('accepts the same decision twice, and no other one', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const decision = {
      log,
      id,
      approved: true,
      approvedArgs: { amount: 1, sku: 'x' },
      decidedBy: 'mia',
    }
    await resolveToolApproval(decision)
    expect(
      await resolveToolApproval({ ...decision, approvedArgs: { sku: 'x', amount: 1 } }),
    ).toMatchObject({
      status: 'approved',
    })
    for (const other of [{ approvedArgs: { sku: 'x', amount: 2 } }, { decidedBy: 'tom' }]) {
      await expect(resolveToolApproval({ ...decision, ...other })).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_DECIDED',
      })
    }
  })

  it('refuses arguments that violate the schema, and the question stays pending', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    for (const approvedArgs of [{ sku: 'lamp', amount: 101 }, { sku: 'lamp' }, 'lamp']) {
      await expect(
        resolveToolApproval({ log, id, approved: true, approvedArgs }),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    }
    expect(await waiting(log)).toBe(id)
    expect(await outcomes([call(attempt(log, 2), place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
    ])
    expect(placed).toEqual([])
  })

  it.each(['amount: must be even', 'The schema could not check them: amount is no number'])(
    'asks again when only the tool itself could find out: %s',
    async (problem) => {
      const log = createMemoryLog()
      const placed: unknown[] = []
      const even = (amount: number): boolean => {
        if (problem.startsWith('The schema')) throw new Error('amount is no number')
        return amount % 2 === 0
      }
      const place = defineTool({
        name: 'place_order',
        // JSON Schema cannot say this, so another process cannot check it.
        schema: z.object({
          sku: z.string(),
          amount: z.number().refine((amount) => amount === 7 || even(amount), 'must be even'),
        }),
        sideEffect: true,
        needsApproval: true,
        approvalPrompt: 'Order {{amount}} of {{sku}}?',
        approvalTtlMs: 60_000,
        execute: async (args) => placed.push(args),
      })
      await outcomes([call(attempt(log, 1), place, order)])
      const [asked] = await pendingApprovals({ log })
      const id = asked?.id ?? ''
      const approvedArgs = { sku: 'lamp', amount: 3 }
      await resolveToolApproval({ log, id, approved: true, approvedArgs, decidedBy: 'mia' })
      const run = attempt(log, 2)
      const refused = await call(run, place, order).catch((error: unknown) => error)
      expect(refused).toMatchObject({
        code: 'TOOL_APPROVAL_REQUIRED',
        effect: 'none',
        message: expect.stringContaining(`The arguments given by mia do not match the schema`),
      })
      await expect(run.settle()).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
      expect(placed).toEqual([])
      expect(await pendingApprovals({ log })).toMatchObject([
        {
          id,
          prompt: expect.stringMatching(
            new RegExp(`${problem}.*decide again. Order 7 of lamp\\?$`),
          ),
          decidedBy: null,
          approvedArgsJson: null,
          expiresAtMs: expect.any(Number),
        },
      ])
      await resolveToolApproval({ log, id, approved: true })
      await call(attempt(log, 3), place, order)
      expect(placed).toEqual([order])
    },
  )

  it('asks the approver again when the stored arguments are invalid', async () => {
    const log = createMemoryLog()
    const placed: unknown[] = []
    const place = defineTool({
      name: 'place_order',
      schema: z.object({ amount: z.number().refine((amount) => amount % 2 === 1, 'must be odd') }),
      sideEffect: true,
      needsApproval: true,
      acceptsContext: true,
      execute: async (args) => placed.push(args),
    })
    await outcomes([call(attempt(log, 1), place, { amount: 7 })])
    const id = await waiting(log)
    await resolveToolApproval({ log, id, approved: true, approvedArgs: { amount: 4 } })
    const prompts: (string | null)[] = []
    const run = attempt(log, 2, ({ approval }) => {
      prompts.push(approval.prompt)
      return { approved: true, approvedArgs: { amount: 5 } }
    })
    await call(run, place, { amount: 7 })
    expect(prompts).toEqual([expect.stringContaining('amount: must be odd')])
    expect(placed).toEqual([{ amount: 5 }])
  })

  it('runs an approved call once when two workers of one attempt make it at the same time', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    const results = await Promise.all(
      [2, 2].map((number) => call(attempt(log, number), place, order)),
    )
    expect(results).toEqual(['placed 7', 'placed 7'])
    expect(placed).toHaveLength(1)
  })
})
