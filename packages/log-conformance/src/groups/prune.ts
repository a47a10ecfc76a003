import assert from 'node:assert/strict'
import type { ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { approvalRow } from '../sample-approval.ts'
import { failure, mustStart, sampleTimeMs, settled, success } from '../sample-row.ts'

export const prune: ConformanceGroup = {
  title: '9 prune',
  tests: [
    {
      name: 'finished calls older than a moment are removed and counted; running calls and later ones stay',
      async run({ open }) {
        const log = await open()
        const running = await mustStart(log, { seq: 1, startedAtMs: 1 })
        for (const [seq, finishedAtMs] of [
          [2, 10],
          [3, 19],
          [4, 20],
          [5, 30],
        ] as const) {
          const patch = seq % 2 === 0 ? success({ finishedAtMs }) : failure({ finishedAtMs })
          await log.finish(await mustStart(log, { seq, startedAtMs: seq }), patch)
        }
        assert.equal(await log.prune({ finishedBeforeMs: 20 }), 2)
        assert.deepEqual(await seqs(log), [1, 4, 5])
        assert.equal(await log.finish(running, success()), 'ok')
      },
    },
    {
      name: 'the newest runs are kept, running calls of old runs too',
      async run({ open }) {
        const log = await open()
        // Run a began first and is the newest all the same: its last call is.
        const runs = ['a', 'b', 'c', 'd', 'a'] as const
        for (const [index, runId] of runs.entries()) {
          const at = { runId, startedAtMs: sampleTimeMs + index }
          await log.finish(await mustStart(log, { ...at, seq: 10 + index }), success())
          await mustStart(log, { ...at, seq: 20 + index })
        }
        assert.equal(await log.prune({ keepRuns: 2 }), 2)
        const rows = await log.list({})
        const finished = rows.filter(({ status }) => status === 'success')
        assert.deepEqual(
          finished.map(({ runId }) => runId),
          ['a', 'd', 'a'],
        )
        assert.equal(rows.length - finished.length, runs.length)
      },
    },
    {
      name: 'the newest rows are kept up to a number',
      async run({ open }) {
        const log = await open()
        await startAndFinish(log, 30)
        assert.equal(await log.prune({ maxRows: 12 }), 18)
        assert.deepEqual(
          await seqs(log),
          Array.from({ length: 12 }, (_, index) => index + 19),
        )
        assert.equal(await log.prune({ maxRows: 12 }), 0)
        assert.equal(await log.prune({ maxRows: 0 }), 12)
      },
    },
    {
      name: 'of several conditions any removes a row, and without a condition nothing is removed',
      async run({ open }) {
        const log = await open()
        await startAndFinish(log, 10)
        assert.equal(await log.prune({}), 0)
        assert.equal(await log.prune({ finishedBeforeMs: sampleTimeMs + 1003, maxRows: 9 }), 2)
        assert.deepEqual(await seqs(log), [3, 4, 5, 6, 7, 8, 9, 10])
      },
    },
    {
      name: 'more rows than one transaction removes are removed and counted, and calls go on meanwhile',
      async run({ open }) {
        const log = await open()
        await startAndFinish(log, 3000)
        const running = await mustStart(log, { runId: 'live', startedAtMs: sampleTimeMs + 9000 })
        const pruning = settled(() => log.prune({ finishedBeforeMs: sampleTimeMs + 9000 }))
        const listed = await log.list({ runId: 'live' })
        const started = await mustStart(log, {
          runId: 'live',
          seq: 2,
          startedAtMs: sampleTimeMs + 9001,
        })
        assert.deepEqual(
          listed.map((row) => row.callToken),
          [running],
        )
        assert.equal(await pruning, 3000)
        assert.deepEqual(
          (await log.list({})).map((row) => row.callToken),
          [running, started],
        )
      },
    },
    {
      name: 'a run that waits for approval keeps its rows until it is decided, or named',
      notApplicable: ({ capabilities }) =>
        capabilities.approvals === true ? null : 'the adapter declares no approvals',
      async run({ open }) {
        const log = await open()
        for (const [index, runId] of ['waits', 'approved', 'rejected', 'expired'].entries()) {
          const startedAtMs = sampleTimeMs + index
          await log.finish(await mustStart(log, { runId, startedAtMs }), success())
        }
        for (const [runId, status] of [
          ['waits', 'pending'],
          ['approved', 'approved'],
          ['rejected', 'rejected'],
          ['expired', 'expired'],
        ] as const) {
          await log.approvals?.request(approvalRow({ id: runId, runId, status }))
        }
        const left = async (): Promise<string[]> => (await log.list({})).map(({ runId }) => runId)
        assert.equal(await log.prune({ maxRows: 0, finishedBeforeMs: sampleTimeMs + 9000 }), 2)
        assert.deepEqual(await left(), ['waits', 'approved'])
        assert.equal(await log.prune({ runs: ['approved', 'none'] }), 1)
        assert.deepEqual(await left(), ['waits'])
        assert.deepEqual(await log.approvals?.list({ runId: 'approved' }), [])
        await log.approvals?.update('waits', 'pending', { status: 'rejected' })
        assert.equal(await log.prune({ maxRows: 0 }), 1)
      },
    },
    {
      name: 'the key of a removed "once" call can be claimed again',
      notApplicable: ({ capabilities }) =>
        capabilities.claims ? null : 'the adapter declares claims: false',
      async run({ open }) {
        const log = await open()
        const fields = { idempotencyKey: 'k' }
        await log.finish(await mustStart(log, fields, { claim: 'once' }), success())
        await log.prune({ maxRows: 0 })
        await mustStart(log, fields, { claim: 'once' })
      },
    },
  ],
}

async function startAndFinish(log: ToolCallLog, calls: number): Promise<void> {
  for (let seq = 1; seq <= calls; seq += 1) {
    const callToken = await mustStart(log, { seq, startedAtMs: sampleTimeMs + seq })
    await log.finish(callToken, success({ finishedAtMs: sampleTimeMs + 1000 + seq }))
  }
}

async function seqs(log: ToolCallLog): Promise<number[]> {
  return (await log.list({})).map(({ seq }) => seq)
}
