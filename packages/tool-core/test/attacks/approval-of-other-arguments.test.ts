import {
  type ApprovalRow,
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallLog,
} from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call } from '../gates/call.ts'

const paid: unknown[] = []
const pay = defineTool({
  name: 'pay',
  schema: z.object({ order: z.string(), to: z.string(), cents: z.number() }),
  sideEffect: true,
  idempotent: false,
  acceptsContext: true,
  needsApproval: true,
  // The key names the intent, so that a reworded call is the same call.
  key: ({ order }) => [order],
  execute: (args) => paid.push(args),
})

const shown = { order: 'o-1', to: 'ada', cents: 1 }
const other = { order: 'o-1', to: 'ada', cents: 999_999 }

beforeEach(() => {
  paid.length = 0
})

function attempt(number: number, log: ToolCallLog): ReturnType<typeof createToolRun> {
  return createToolRun({ runId: 'r', attempt: number, log })
}

/** Requests approval for arguments, and returns the request. */
async function requested(log: ToolCallLog, number: number, args: unknown): Promise<ApprovalRow> {
  await expect(call(attempt(number, log), pay, args)).rejects.toMatchObject({
    code: 'TOOL_APPROVAL_REQUIRED',
  })
  const [row] = await pendingApprovals({ log })
  return row!
}

/** A log that finds approvals by the key alone. */
function byKeyAlone(log: MemoryLog): ToolCallLog {
  return {
    ...log,
    approvals: {
      ...log.approvals,
      request: (row) => log.approvals.request({ ...row, inputHash: '' }),
      list: ({ inputHash: _ignored, ...query }) => log.approvals.list(query),
    },
  }
}

describe('a call with other arguments under an approved key', () => {
  it('pays an unapproved amount with a log that finds approvals by key, as a control', async () => {
    const log = byKeyAlone(createMemoryLog())
    const { id } = await requested(log, 1, shown)
    await resolveToolApproval({ log, id, approved: true })
    await call(attempt(2, log), pay, other)
    expect(paid).toEqual([other])
  })

  it('requests approval again, and the old request says that it was superseded', async () => {
    const log = createMemoryLog()
    const { id } = await requested(log, 1, shown)
    await resolveToolApproval({ log, id, approved: true })
    const again = await requested(log, 2, other)
    expect(paid).toEqual([])
    expect(again.inputJson).toContain('999999')
    expect(log.approvals.list({ id })).toMatchObject([{ status: 'superseded' }])
    await resolveToolApproval({ log, id: again.id, approved: true })
    await call(attempt(3, log), pay, other)
    expect(paid).toEqual([other])
  })

  it('replaces a request that waits: the approver sees and decides about the call that will run', async () => {
    const log = createMemoryLog()
    const first = await requested(log, 1, shown)
    await requested(log, 2, other)
    expect(await pendingApprovals({ log })).toMatchObject([
      { inputJson: expect.stringContaining('999999') },
    ])
    await expect(resolveToolApproval({ log, id: first.id, approved: true })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_DECIDED',
      message: expect.stringContaining('superseded: the agent made the call again'),
    })
    await requested(log, 3, shown)
    expect(paid).toEqual([])
  })

  it('may be made after a rejection that asked for less, while the rejected one stays rejected', async () => {
    const log = createMemoryLog()
    const { id } = await requested(log, 1, other)
    await resolveToolApproval({ log, id, approved: false, comment: 'too much, try 1' })
    const amended = await requested(log, 2, shown)
    await resolveToolApproval({ log, id: amended.id, approved: true })
    await call(attempt(3, log), pay, shown)
    expect(paid).toEqual([shown])
    await expect(call(attempt(4, log), pay, other)).rejects.toThrow(
      'Tool call rejected: too much, try 1',
    )
  })
})
