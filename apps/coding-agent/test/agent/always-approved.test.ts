import { type ApprovalRow, isHostApproval } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { AlwaysApproved } from '../../src/agent/always-approved.ts'

const approval = { runId: 'r', toolName: 'bash', callKey: 'k' } as ApprovalRow
const decision = { approved: true, decidedBy: 'mia', comment: 'approved for the whole run' }
const decide = (always: AlwaysApproved, of: Partial<ApprovalRow> = {}) =>
  always.decisionOn({ approval: { ...approval, ...of }, problem: undefined }, 'mia')

describe('AlwaysApproved', () => {
  test('decides nothing before the user has', () => {
    expect(decide(new AlwaysApproved())).toBeUndefined()
  })

  test('decides on a tool in its run alone', () => {
    const always = new AlwaysApproved()
    always.add(approval, 'tool')
    expect(decide(always)).toEqual(decision)
    expect(decide(always, { toolName: 'write' })).toBeUndefined()
    expect(decide(always, { runId: 'other' })).toBeUndefined()
  })

  test('decides on every tool of a run', () => {
    const always = new AlwaysApproved()
    always.add(approval, 'run')
    expect(decide(always, { toolName: 'write' })).toEqual(decision)
    expect(decide(always, { runId: 'other' })).toBeUndefined()
  })

  test('never decides on a host that a command of an approved tool asks for', () => {
    const always = new AlwaysApproved()
    always.add(approval, 'tool')
    always.add(approval, 'run')
    const host = { ...approval, callKey: 'network ["k","example.test",443]' }
    expect(isHostApproval(host)).toBe(true)
    expect(decide(always, host)).toBeUndefined()
  })

  test('asks again when the arguments of the user do not match', () => {
    const always = new AlwaysApproved()
    always.add(approval, 'run')
    expect(
      always.decisionOn({ approval, problem: 'cents: expected number' }, 'mia'),
    ).toBeUndefined()
  })
})
