import { createMemoryLog } from '@smithers/log-memory'
import type { MemoryLog } from '@smithers/log-memory'
import type { FinishPatch, StartRow } from '@smithers/tool-core/log'
import { describe, expect, it } from 'vitest'

describe('createMemoryLog', () => {
  it('keeps 10 000 rows by default, and forgets the oldest finished ones first', () => {
    const log = createMemoryLog()
    for (let seq = 1; seq <= 10_005; seq += 1) finished(log, call(seq))
    const rows = log.snapshot()
    expect(rows).toHaveLength(10_000)
    expect(rows[0]?.seq).toBe(6)
  })

  it('never forgets a running call, even when it must keep more rows than maxRows', () => {
    const log = createMemoryLog({ maxRows: 3 })
    log.start(call(1), relaxed)
    for (let seq = 2; seq <= 10; seq += 1) finished(log, call(seq))
    expect(log.snapshot().map(({ seq }) => seq)).toEqual([1, 9, 10])
    for (let seq = 11; seq <= 15; seq += 1) log.start(call(seq), relaxed)
    expect(log.list({ status: 'started' }).map(({ seq }) => seq)).toEqual([1, 11, 12, 13, 14, 15])
  })

  it('never forgets a call of a run that may continue, and forgets it once the run has ended', async () => {
    const log = createMemoryLog({ maxRows: 2 })
    finished(log, call(1, { runId: 'open' }))
    const leaseToken = 'lease'
    const claimed = await log.runs.claim({
      runId: 'open',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'owner',
      leaseToken,
      leaseExpiresAtMs: Date.now() + 60_000,
      nowMs: Date.now(),
    })
    expect(claimed.ok).toBe(true)
    for (let seq = 2; seq <= 6; seq += 1) finished(log, call(seq, { runId: 'other' }))
    expect(log.snapshot().map(({ seq }) => seq)).toEqual([1, 6])
    const end = { runId: 'open', leaseToken, errorJson: null, nowMs: Date.now() } as const
    expect(await log.runs.release({ ...end, status: 'finished' })).toBe('ok')
    for (let seq = 7; seq <= 9; seq += 1) finished(log, call(seq, { runId: 'other' }))
    expect(log.snapshot().map(({ seq }) => seq)).not.toContain(1)
  })

  it('frees the seq, the token and the key of a row that it has forgotten', () => {
    const log = createMemoryLog({ maxRows: 1 })
    const first = call(1, { idempotencyKey: 'k' })
    expect(log.start(first, { durability: 'relaxed', claim: 'once' })).toEqual({ ok: true })
    log.finish(first.callToken, success)
    finished(log, call(2))
    expect(log.start(first, { durability: 'relaxed', claim: 'once' })).toEqual({ ok: true })
  })

  it('keeps every row with maxRows: Infinity', () => {
    const log = createMemoryLog({ maxRows: Infinity })
    for (let seq = 1; seq <= 10_005; seq += 1) finished(log, call(seq))
    expect(log.snapshot()).toHaveLength(10_005)
  })

  it('continues with the rows of another log, their claims included', () => {
    const before = createMemoryLog()
    const once = call(1, { idempotencyKey: 'k' })
    before.start(once, { durability: 'relaxed', claim: 'once' })
    before.finish(once.callToken, success)
    before.start(call(2), relaxed)
    const rows = before.snapshot()
    const log = createMemoryLog({ rows })
    expect(log.snapshot()).toEqual(rows)
    const taken = call(2, { callToken: 'another' })
    expect(log.start(taken, relaxed)).toMatchObject({ reason: 'seq-taken' })
    const again = call(3, { idempotencyKey: 'k' })
    expect(log.start(again, { durability: 'relaxed', claim: 'once' })).toMatchObject({
      reason: 'claimed',
      existing: { callToken: once.callToken },
    })
    expect(log.finish(call(2).callToken, success)).toBe('ok')
    expect(rows[1]?.status).toBe('started')
    expect(createMemoryLog({ rows, maxRows: 1 }).snapshot()).toMatchObject([{ seq: 2 }])
  })

  it('gives a snapshot of its rows after it was closed, which later changes do not reach', () => {
    const log = createMemoryLog()
    const row = call(1)
    log.start(row, relaxed)
    const before = log.snapshot()
    log.finish(row.callToken, success)
    log.close()
    expect(before.map(({ status }) => status)).toEqual(['started'])
    expect(log.snapshot().map(({ status }) => status)).toEqual(['success'])
    expect(() => log.list({})).toThrow('closed')
  })

  it.each([0, -1, 1.5, Number.NaN])('refuses maxRows: %d', (maxRows) => {
    expect(() => createMemoryLog({ maxRows })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', details: { maxRows } }) as Error,
    )
  })
})

const relaxed = { durability: 'relaxed', claim: null } as const

const success: FinishPatch = {
  status: 'success',
  outputJson: null,
  errorJson: null,
  effect: 'none',
  finishedAtMs: 2,
}

function finished(log: MemoryLog, row: StartRow): void {
  expect(log.start(row, relaxed)).toEqual({ ok: true })
  expect(log.finish(row.callToken, success)).toBe('ok')
}

function call(seq: number, fields: Partial<StartRow> = {}): StartRow {
  return {
    runId: 'run',
    nodeId: 'node',
    iteration: 0,
    attempt: 1,
    seq,
    toolName: 'read',
    inputJson: null,
    startedAtMs: seq,
    callToken: `token-${seq}`,
    toolCallId: null,
    idempotencyKey: null,
    inputHash: null,
    occurrence: 0,
    sideEffect: false,
    idempotent: true,
    ownerId: null,
    leaseExpiresAtMs: null,
    replayOf: null,
    traceId: null,
    spanId: null,
    ...fields,
  }
}
