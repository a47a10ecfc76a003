import { createMemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { describe, expect, it } from 'vitest'
import type { ApprovalsResponse } from '../../src/api/approvals.ts'
import type { CallResponse } from '../../src/api/call-detail.ts'
import type { CallsResponse } from '../../src/api/calls.ts'
import type { ChangesResponse } from '../../src/api/changes.ts'
import { approval } from '../fixtures/approval.ts'
import { plain } from '../fixtures/plain-log.ts'
import { addCall, errorJson, logWithLostPayment, startRow } from '../fixtures/sample-log.ts'
import { ask, served } from '../fixtures/served.ts'

describe('a call', () => {
  it('says whether it happened, how often, and what differs from the last try', async () => {
    const log = logWithLostPayment()
    const viewer = await served({ log, logArgument: 'my log.db' })
    const { call } = await ask<CallResponse>(viewer, '/api/call?callToken=token-3')
    expect(call.summary.outcome).toBe('refused')
    expect(call.sameKeyCount).toBe(2)
    expect(call.sameKey.map(({ summary }) => summary.outcome)).toEqual(['unknown'])
    expect(call.attemptBefore).toMatchObject({
      sameArguments: true,
      summary: { callToken: 'token-2' },
    })
    expect(call.copyAs.command).toBe("smithers show token-3 --log 'my log.db'")
    const { call: lost } = await ask<CallResponse>(viewer, '/api/call?callToken=token-2')
    expect(lost.outcomeText).toContain('It may have taken effect: look it up by this key')
  })

  it('returns the original of a replayed call, and its approval with the preview', async () => {
    const log = createMemoryLog()
    log.approvals.request(approval())
    addCall(log, { seq: 1 })
    addCall(log, { seq: 2, attempt: 2 }, { replayOf: 'token-1' })
    const waiting = {
      status: 'error',
      effect: 'none',
      errorJson: errorJson('TOOL_APPROVAL_REQUIRED'),
    } as const
    addCall(log, { seq: 3, toolCallId: 'call-1', inputHash: null }, waiting)
    const viewer = await served({ log, errorDocs: 'https://docs.example/errors#' })
    const replayed = await ask<CallResponse>(viewer, '/api/call?callToken=token-2')
    expect(replayed.call.summary.outcome).toBe('replayed')
    expect(replayed.call.replayedOriginal?.summary.callToken).toBe('token-1')
    const waits = await ask<CallResponse>(viewer, '/api/call?callToken=token-3')
    expect(waits.call.approval).toMatchObject({
      id: 'approval-1',
      preview: { kind: 'patch' },
      mustConfirm: true,
    })
    expect(waits.call.error?.docsUrl).toBe('https://docs.example/errors#TOOL_APPROVAL_REQUIRED')
  })

  it.each([
    '{"sha256":1,"bytes":2}',
    '['.repeat(3000) + ']'.repeat(3000),
    '{"__proto__":{"a":1}}',
    'no JSON',
    '"\\ud800"',
    '{"path":{"toString":1}}',
  ])('of a log that was made to break its readers is served as it is: %.40s', async (json) => {
    const log = createMemoryLog()
    addCall(
      log,
      { inputJson: json },
      { outputJson: json, errorJson: json, status: 'error', effect: 'none' },
    )
    const viewer = await served({ log })
    const { call } = await ask<CallResponse>(viewer, '/api/call?callToken=token-1')
    expect(call).toMatchObject({ inputJson: json, outputJson: json, error: { json } })
    const { calls } = await ask<CallsResponse>(viewer, '/api/calls?runId=run-1')
    expect(calls[0]?.summary.length).toBeLessThanOrEqual(200)
  })
})

describe('what waits for approval', () => {
  it('is listed oldest first, without what has expired', async () => {
    const log = createMemoryLog()
    for (const [id, expiresAtMs] of [
      ['old', null],
      ['late', 1],
      ['new', null],
    ] as const) {
      log.approvals.request(approval({ id, callKey: id, expiresAtMs }))
    }
    const viewer = await served({ log })
    const { approvals } = await ask<ApprovalsResponse>(viewer, '/api/approvals')
    expect(approvals.map(({ id }) => id)).toEqual(['old', 'new'])
  })
})

describe('a change', () => {
  it.each(['memory', 'sqlite', 'without a version'])(
    'of a log (%s) ends the wait for one',
    async (kind) => {
      const sqlite = createSqliteLog({ path: ':memory:' })
      const memory = createMemoryLog()
      const log = kind === 'sqlite' ? sqlite : kind === 'memory' ? memory : plain(memory)
      const viewer = await served({ log })
      const { version } = await ask<ChangesResponse>(viewer, '/api/changes')
      const waiting = ask<ChangesResponse>(
        viewer,
        `/api/changes?since=${encodeURIComponent(version)}`,
      )
      let answered = false
      void waiting.then(() => (answered = true))
      // It answers no sooner than something happens.
      await ask(viewer, '/api/session')
      expect(answered).toBe(false)
      await log.start(startRow(), { durability: 'relaxed', claim: null })
      const change = await waiting
      expect(change.changed).toBe(true)
      expect(change.version).not.toBe(version)
      await sqlite.close()
    },
  )
})
