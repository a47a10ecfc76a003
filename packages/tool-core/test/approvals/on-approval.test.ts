import { type ApprovalDecision, pendingApprovals } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { attempt, order, shop } from '../fixtures/order-approval.ts'
import { call, outcomes } from '../gates/call.ts'

describe('onApproval', () => {
  it('is asked with the real arguments during the run, and again when its arguments are invalid', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    const seen: (string | undefined)[] = []
    const answers: ApprovalDecision[] = [
      { approved: true, approvedArgs: { sku: 'lamp', amount: 1000 } },
      { approved: true, approvedArgs: { sku: 'lamp', amount: 9 }, decidedBy: 'mia' },
    ]
    const run = attempt(log, 1, ({ args, problem }) => {
      expect(args).toEqual(order)
      seen.push(problem)
      return answers.shift()
    })
    expect(await call(run, place, order)).toBe('placed 9')
    expect(seen).toEqual([undefined, expect.stringContaining('amount')])
    expect(placed).toHaveLength(1)
    expect(await run.settle('done')).toBe('done')
  })

  it('leaves the question pending when it has no answer', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    const run = attempt(log, 1, () => undefined)
    expect(await outcomes([call(run, place, order)])).toEqual(['TOOL_APPROVAL_REQUIRED'])
    expect(await pendingApprovals({ log })).toHaveLength(1)
  })
})
