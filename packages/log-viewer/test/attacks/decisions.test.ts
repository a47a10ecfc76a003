import { userInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { post, served } from '../fixtures/served.ts'
import { decision, statusIn, waitingLog } from '../fixtures/waiting-log.ts'

/** A container may run as a user without an entry. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

describe('decisions by accident', () => {
  it('are refused by a viewer that may not decide', async () => {
    const log = waitingLog()
    const viewer = await served({ log })
    const { status, answer } = await post(viewer, '/api/approvals/decide', decision)
    expect(status).toBe(403)
    expect(answer['error']).toMatchObject({ code: 'FORBIDDEN' })
    expect(statusIn(log)).toBe('pending')
  })

  it('are asked for again when the call is not known to be safe to repeat', async () => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const { confirmed: _, ...once } = decision
    for (const body of [once, { ...once, confirmed: false }]) {
      const { status, answer } = await post(viewer, '/api/approvals/decide', body)
      expect(status).toBe(409)
      expect(answer['error']).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
      expect(statusIn(log)).toBe('pending')
    }
    expect((await post(viewer, '/api/approvals/decide', decision)).status).toBe(200)
    expect(log.approvals.list({})).toMatchObject([{ status: 'approved', decidedBy: systemUser() }])
  })

  it('are refused for other arguments than those that were shown', async () => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const other = { ...decision, inputHash: 'b'.repeat(64) }
    expect((await post(viewer, '/api/approvals/decide', other)).status).toBe(409)
    expect(statusIn(log)).toBe('pending')
  })

  it('are refused under another name: a body cannot say who decides', async () => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    await post(viewer, '/api/approvals/decide', { ...decision, decidedBy: 'mallory' })
    expect(log.approvals.list({})).toMatchObject([{ decidedBy: systemUser() }])
  })

  it.each([
    null,
    [],
    'approve',
    { id: 'approval-1' },
    { ...decision, approved: 'yes' },
    { ...decision, confirmed: 'yes' },
    { ...decision, comment: 1 },
    { ...decision, comment: 'x'.repeat(10_001) },
  ])('are refused for a body that is no decision: %j', async (body) => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    expect((await post(viewer, '/api/approvals/decide', body)).status).toBe(400)
    expect(statusIn(log)).toBe('pending')
  })

  it('are refused for changed arguments that do not fit the schema, and for a body that is too long', async () => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const changed = { ...decision, approvedArgs: { amount: 501 } }
    expect((await post(viewer, '/api/approvals/decide', changed)).status).toBe(422)
    const long = { ...decision, approvedArgs: { amount: 1, text: 'x'.repeat(1024 * 1024) } }
    expect((await post(viewer, '/api/approvals/decide', long)).status).toBe(413)
    expect(statusIn(log)).toBe('pending')
  })
})
