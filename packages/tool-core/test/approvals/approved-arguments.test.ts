import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  SmithersError,
  type ToolCallLog,
} from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { attempt, order, schema, shop, waiting } from '../fixtures/order-approval.ts'
import { call, outcomes } from '../gates/call.ts'

async function kept(log: MemoryLog): Promise<(string | null)[]> {
  const rows = await log.approvals.list({})
  return rows.map(({ approvedArgsJson }) => approvedArgsJson)
}

afterEach(() => vi.restoreAllMocks())

describe('needsApproval', () => {
  it('runs with the arguments of the approver', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    expect(await call(attempt(log, 2), place, order)).toBe('placed 3')
    expect(placed.map(({ args }) => args)).toEqual([approvedArgs])
    expect(log.snapshot().at(-1)?.inputJson).toBe('{"sku":"lamp","amount":3}')
    // Once used they are not kept.
    expect(await log.approvals?.list({})).toMatchObject([{ approvedArgsJson: null }])
  })

  it('keeps the arguments of the approver while they may still be needed, and no longer', async () => {
    const log = createMemoryLog()
    const state: { error: Error } = {
      error: new SmithersError('TOOL_COMMAND_FAILED', 'not sent', { effect: 'none' }),
    }
    const placed: unknown[] = []
    const place = defineTool({
      name: 'place_order',
      schema,
      sideEffect: true,
      needsApproval: true,
      acceptsContext: true,
      execute: (args) => {
        placed.push(args)
        throw state.error
      },
    })
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    // Certainly without effect: the approval stands, and so do its arguments.
    await outcomes([call(attempt(log, 2), place, order)])
    expect(await kept(log)).toEqual([JSON.stringify(approvedArgs)])
    state.error = new Error('connection lost')
    await outcomes([call(attempt(log, 3), place, order)])
    expect(placed).toEqual([approvedArgs, approvedArgs])
    expect(await kept(log)).toEqual([null])
  })

  it('erases what the approver gave to a call whose process ended, when the run continues', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const [asked] = log.snapshot()
    const approvedArgs = { sku: 'lamp', amount: 3 }
    const { id } = await resolveToolApproval({
      log,
      id: await waiting(log),
      approved: true,
      approvedArgs,
    })
    // What a process leaves that is killed while the tool runs.
    const { status, finishedAtMs, outputJson, errorJson, effect, claim, ...row } = asked!
    void [status, finishedAtMs, outputJson, errorJson, effect, claim]
    const killed = { ...row, callToken: 'killed', seq: 9, ownerId: null, leaseExpiresAtMs: 2 }
    log.start(killed, { durability: 'fsync', claim: null, approvalId: id })
    expect(await kept(log)).toEqual([JSON.stringify(approvedArgs)])
    // Another process has its own log object.
    await outcomes([call(attempt({ ...log }, 2), place, { sku: 'other', amount: 1 })])
    expect(await kept(log)).toEqual([null, null])
  })

  it('does not fail a call that has run when its approval cannot be cleaned up', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    const { approvals } = log
    const failing: ToolCallLog = {
      ...log,
      approvals: {
        ...approvals,
        update(id, expected, patch) {
          if (patch.status === 'used') throw new Error('the disk is full')
          return approvals.update(id, expected, patch)
        },
      },
    }
    const errors: unknown[] = []
    const onLogError = (error: unknown): number => errors.push(error)
    const run = createToolRun({ runId: 'r', nodeId: 'n', attempt: 2, log: failing, onLogError })
    expect(await call(run, place, order)).toBe('placed 3')
    expect(placed).toHaveLength(1)
    expect(errors).toEqual([new Error('the disk is full')])
  })

  it('shows the approver no more than the log may hold', async () => {
    const log = createMemoryLog()
    const write = defineTool({
      name: 'write',
      schema: z.object({ path: z.string(), content: z.string(), password: z.string() }),
      needsApproval: true,
      approvalPrompt: 'Write {{content}} with {{password}} to {{path}}?',
      approvalDefaults: (args) => ({ ...args, path: 'b.txt' }),
      logInput: ({ path, content, password }) => ({ path, bytes: content.length, password }),
      execute: () => 'ok',
    })
    await outcomes([
      call(attempt(log, 1), write, { path: 'a.txt', content: 'hidden', password: 'hunter2' }),
    ])
    const [approval] = await pendingApprovals({ log })
    expect(approval?.prompt).toBe('Write {{content}} with {{password}} to a.txt?')
    expect(JSON.parse(approval?.defaultsJson ?? '')).toMatchObject({ path: 'b.txt', bytes: 6 })
    expect(JSON.stringify(approval)).not.toMatch(/hidden|hunter2/)
  })
})
