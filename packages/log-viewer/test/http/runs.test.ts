import { createMemoryLog } from '@smithers/log-memory'
import { describe, expect, it } from 'vitest'
import type { CallsResponse, RunResponse, TimelineResponse } from '../../src/api/calls.ts'
import type { RunsResponse } from '../../src/api/runs.ts'
import type { SessionResponse } from '../../src/api/session.ts'
import { approval } from '../fixtures/approval.ts'
import { plain } from '../fixtures/plain-log.ts'
import {
  addCall,
  ended,
  errorJson,
  logWithLostPayment,
  sampleMs,
  startRow,
} from '../fixtures/sample-log.ts'
import { ask, served } from '../fixtures/served.ts'

describe('the list of runs', () => {
  it.each(['as the log lists them', 'from the newest rows'])(
    'has the counts of each run, %s',
    async (how) => {
      const log = logWithLostPayment()
      log.approvals.request(approval({ runId: 'run-2' }))
      addCall(log, { runId: 'run-2', seq: 7 }, null)
      addCall(
        log,
        { runId: 'run-2', seq: 8, ownerId: `${startRow().ownerId?.split(':')[0]}:999999999:1` },
        null,
      )
      addCall(
        log,
        { runId: 'run-2', seq: 9 },
        { status: 'error', effect: 'unknown', errorJson: errorJson('TOOL_COMMAND_FAILED') },
      )
      addCall(log, { runId: 'run-3', seq: 900, callToken: 'newest' })
      const viewer = await served({ log: how === 'as the log lists them' ? log : plain(log) })
      const { runs, nextCursor } = await ask<RunsResponse>(viewer, '/api/runs')
      expect(nextCursor).toBeNull()
      expect(runs.map(({ runId, counts }) => ({ runId, ...counts }))).toEqual([
        { runId: 'run-3', calls: 1, running: 0, unknown: 0, failed: 0, refused: 0, waits: 0 },
        { runId: 'run-1', calls: 3, running: 0, unknown: 1, failed: 0, refused: 1, waits: 0 },
        { runId: 'run-2', calls: 3, running: 1, unknown: 1, failed: 1, refused: 0, waits: 1 },
      ])
      const session = await ask<SessionResponse>(viewer, '/api/session')
      expect(session.listsAllRuns).toBe(how === 'as the log lists them')
      expect(session.newestRows).toBe(10_000)
    },
  )

  it.each(['as the log lists them', 'from the newest rows'])(
    'has pages that hold each run once, %s',
    async (how) => {
      const log = createMemoryLog()
      for (let seq = 1; seq <= 7; seq += 1) addCall(log, { seq, runId: `run-${seq}` })
      const viewer = await served({ log: how === 'as the log lists them' ? log : plain(log) })
      const pages: string[][] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: RunsResponse = await ask(
          viewer,
          `/api/runs?limit=3${cursor && `&cursor=${cursor}`}`,
        )
        pages.push(page.runs.map(({ runId }) => runId))
        cursor = page.nextCursor
      }
      expect(pages).toEqual([['run-7', 'run-6', 'run-5'], ['run-4', 'run-3', 'run-2'], ['run-1']])
    },
  )
})

describe('a run', () => {
  it('has a group for each attempt, with the reason it ended', async () => {
    const viewer = await served({ log: logWithLostPayment() })
    const run = await ask<RunResponse>(viewer, '/api/run?runId=run-1')
    expect(
      run.groups.map(({ attempt, first, count, end, counts }) => ({
        attempt,
        first,
        count,
        kind: end.kind,
        counts,
      })),
    ).toEqual([
      { attempt: 1, first: 0, count: 2, kind: 'lost', counts: { ok: 1, unknown: 1 } },
      { attempt: 2, first: 2, count: 1, kind: 'unrecorded', counts: { refused: 1 } },
    ])
    expect(run.groups[0]?.end.text).toContain('call 2 (charge)')
    expect(run.fromMs).toBe(sampleMs + 10)
    expect(run.toMs).toBe(sampleMs + 505)
  })

  it('is opened in one answer, with its first calls; without an id, the run with the newest call', async () => {
    const log = createMemoryLog()
    for (let seq = 1; seq <= 5; seq += 1) addCall(log, { seq })
    addCall(log, { runId: 'newest', seq: 9, callToken: 'last' })
    const viewer = await served({ log })
    const known = await ask<TimelineResponse>(viewer, '/api/timeline?runId=run-1&limit=3')
    expect(known.run).toEqual(await ask<RunResponse>(viewer, '/api/run?runId=run-1'))
    expect(known.calls).toEqual(await ask(viewer, '/api/calls?runId=run-1&limit=3'))
    expect(known.calls?.calls).toHaveLength(3)
    const newest = await ask<TimelineResponse>(viewer, '/api/timeline')
    expect(newest.run?.run.runId).toBe('newest')
    expect(newest.calls?.calls.map(({ callToken }) => callToken)).toEqual(['last'])
    await expect(ask(viewer, '/api/timeline?runId=none')).rejects.toThrow('404')
  })

  it('is opened from the runs that are recorded, when no call has been made', async () => {
    const log = createMemoryLog()
    const viewer = await served({ log })
    expect(await ask<TimelineResponse>(viewer, '/api/timeline')).toEqual({ run: null, calls: null })
    log.runs.claim({
      runId: 'begun',
      leaseToken: 'one',
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'host:1:1',
      leaseExpiresAtMs: Date.now() + 60_000,
      nowMs: sampleMs,
    })
    const { run, calls } = await ask<TimelineResponse>(viewer, '/api/timeline')
    expect(run?.run.runId).toBe('begun')
    expect(calls?.calls).toEqual([])
  })

  it('says what the store of runs says of an attempt', async () => {
    const log = createMemoryLog()
    const lease = { runId: 'run-1', leaseToken: 'one' }
    log.runs.claim({
      ...lease,
      inputJson: null,
      optionsJson: '{}',
      ownerId: 'host:1:1',
      leaseExpiresAtMs: Date.now() + 60_000,
      nowMs: sampleMs,
    })
    const task = { ...lease, nodeId: 'pay', iteration: 0, attempt: 1, nowMs: sampleMs + 1 }
    log.runs.startAttempt({ ...task, taskId: 'pay', outputName: null })
    addCall(log)
    log.runs.finishAttempt({
      ...task,
      status: 'failed',
      outputJson: null,
      errorJson: errorJson('TASK_TIMEOUT', 'Too slow.'),
    })
    const viewer = await served({ log })
    const { groups } = await ask<RunResponse>(viewer, '/api/run?runId=run-1')
    expect(groups.map(({ end }) => end)).toEqual([
      { kind: 'failed', text: 'Too slow.', code: 'TASK_TIMEOUT' },
    ])
  })

  it('is read in pages by cursor and by position, in the order of the timeline', async () => {
    const log = createMemoryLog()
    for (let seq = 25; seq >= 1; seq -= 1) addCall(log, { seq })
    const viewer = await served({ log })
    const first = await ask<CallsResponse>(viewer, '/api/calls?runId=run-1&limit=10')
    const next = await ask<CallsResponse>(
      viewer,
      `/api/calls?runId=run-1&limit=10&cursor=${first.nextCursor}`,
    )
    const last = await ask<CallsResponse>(viewer, '/api/calls?runId=run-1&limit=10&from=20')
    const seqs = [first, next, last].map(({ from, total, calls }) => [
      from,
      total,
      calls[0]?.seq,
      calls.length,
    ])
    expect(seqs).toEqual([
      [0, 25, 1, 10],
      [10, 25, 11, 10],
      [20, 25, 21, 5],
    ])
    expect(last.nextCursor).toBeNull()
  })

  it('shows calls that ended, began and were pruned since it was read', async () => {
    const log = createMemoryLog()
    addCall(log, { seq: 1 })
    addCall(log, { seq: 2 }, null)
    const viewer = await served({ log })
    const outcomes = async (): Promise<string[]> => {
      const { calls } = await ask<CallsResponse>(viewer, '/api/calls?runId=run-1')
      return calls.map(({ seq, outcome }) => `${seq} ${outcome}`)
    }
    expect(await outcomes()).toEqual(['1 ok', '2 running'])
    log.finish('token-2', ended())
    addCall(log, { seq: 3 }, null)
    expect(await outcomes()).toEqual(['1 ok', '2 ok', '3 running'])
    log.prune({ maxRows: 1 })
    expect(await outcomes()).toEqual(['3 running'])
  })

  it('is read once for requests that arrive together', async () => {
    const log = createMemoryLog()
    for (let seq = 1; seq <= 3; seq += 1) addCall(log, { seq })
    const readings: unknown[] = []
    const list: typeof log.list = (query) => {
      if (query.order === 'descending' && query.limit !== 1) readings.push(query)
      return log.list(query)
    }
    const viewer = await served({ log: { ...log, list } })
    const answers = await Promise.all([
      ask<RunResponse>(viewer, '/api/run?runId=run-1'),
      ask<CallsResponse>(viewer, '/api/calls?runId=run-1'),
      ask<CallsResponse>(viewer, '/api/calls?runId=run-1&from=1'),
    ])
    expect(answers.map((answer) => ('calls' in answer ? answer.calls.length : 0))).toEqual([
      0, 3, 2,
    ])
    expect(readings).toHaveLength(1)
  })

  it('shows the wait for an approval before the call that ran with it', async () => {
    const log = createMemoryLog()
    log.approvals.request(approval())
    const waiting = {
      status: 'error',
      effect: 'none',
      outputJson: null,
      errorJson: errorJson('TOOL_APPROVAL_REQUIRED'),
    } as const
    addCall(log, { seq: 1, startedAtMs: sampleMs }, waiting)
    const viewer = await served({ log })
    const read = async (): Promise<CallsResponse> => await ask(viewer, '/api/calls?runId=run-1')
    expect((await read()).calls[0]).toMatchObject({
      outcome: 'waiting',
      segments: [{ kind: 'approval', fromMs: sampleMs, toMs: null }, { kind: 'run' }],
    })
    log.approvals.update('approval-1', 'pending', {
      status: 'approved',
      decidedAtMs: sampleMs + 2000,
    })
    const row = startRow({ seq: 1, attempt: 2, callToken: 'ran', startedAtMs: sampleMs + 3000 })
    log.start(row, { durability: 'relaxed', claim: null, approvalId: 'approval-1' })
    expect((await read()).calls[1]).toMatchObject({
      outcome: 'running',
      segments: [
        { kind: 'approval', fromMs: sampleMs, toMs: sampleMs + 2000 },
        { kind: 'run', fromMs: sampleMs + 3000, toMs: null },
      ],
    })
  })
})
