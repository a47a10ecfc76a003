import assert from 'node:assert/strict'
import type { StartResult, TaskAttempt, ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { sampleRow } from '../sample-row.ts'
import { runClaim } from '../sample-run.ts'

const fsync = { durability: 'fsync', claim: null } as const

/** The attempt of the sample rows. */
function attemptOf(attempt: number, task: Partial<TaskAttempt> = {}): TaskAttempt {
  const { runId, nodeId, iteration } = sampleRow()
  return { runId, nodeId, iteration, attempt, ...task }
}

async function begin(log: ToolCallLog, attempt: TaskAttempt): Promise<'ok' | 'superseded'> {
  assert.ok(log.beginAttempt !== undefined, 'the log declares attempts and has no beginAttempt')
  return await log.beginAttempt(attempt)
}

function reasonOf(result: StartResult): string {
  return result.ok ? 'ok' : result.reason
}

export const attempts: ConformanceGroup = {
  title: '20 attempts',
  notApplicable: ({ capabilities }) =>
    capabilities.attempts === true ? null : 'the adapter declares no attempts',
  tests: [
    {
      name: 'a start of an earlier attempt is refused once a later one has begun, and leaves no row',
      async run({ open }) {
        const log = await open()
        assert.equal(await begin(log, attemptOf(1)), 'ok')
        assert.deepEqual(await log.start(sampleRow({ seq: 1 }), fsync), { ok: true })
        assert.equal(await begin(log, attemptOf(2)), 'ok')
        for (const [seq, options] of [fsync, keyed(null), keyed([]), keyed(['a'])].entries()) {
          const late = sampleRow({ seq: seq + 2, idempotencyKey: `late ${seq}` })
          const answer = await log.start(late, options)
          assert.deepEqual(answer, { ok: false, reason: 'superseded' })
        }
        assert.deepEqual(
          (await log.list({})).map(({ attempt, seq }) => [attempt, seq]),
          [[1, 1]],
        )
      },
    },
    {
      name: 'an attempt that goes on, a later one, and one that was never begun may start',
      async run({ open }) {
        const log = await open()
        for (const [index, attempt] of [1, 1, 2, 2, 7].entries()) {
          assert.equal(await begin(log, attemptOf(attempt)), 'ok')
          const row = sampleRow({ attempt, seq: index + 1 })
          assert.equal(reasonOf(await log.start(row, fsync)), 'ok')
        }
        const never = sampleRow({ runId: 'never begun', attempt: 1 })
        assert.equal(reasonOf(await log.start(never, fsync)), 'ok')
      },
    },
    {
      name: 'an earlier attempt cannot begin again, and the newest can',
      async run({ open }) {
        const log = await open()
        assert.equal(await begin(log, attemptOf(3)), 'ok')
        assert.equal(await begin(log, attemptOf(1)), 'superseded')
        assert.equal(await begin(log, attemptOf(2)), 'superseded')
        assert.equal(await begin(log, attemptOf(3)), 'ok')
      },
    },
    {
      name: 'attempts of other runs, tasks and iterations do not count',
      async run({ open }) {
        const log = await open()
        await begin(log, attemptOf(2, { runId: 'other' }))
        await begin(log, attemptOf(2, { nodeId: 'other' }))
        await begin(log, attemptOf(2, { iteration: 1 }))
        // NUL and lone surrogates make no two tasks one.
        await begin(log, attemptOf(2, { runId: 'a\0b', nodeId: '\uD800' }))
        assert.equal(reasonOf(await log.start(sampleRow(), fsync)), 'ok')
        const odd = sampleRow({ runId: 'a', nodeId: '\uD801' })
        assert.equal(reasonOf(await log.start(odd, fsync)), 'ok')
        const late = sampleRow({ runId: 'a\0b', nodeId: '\uD800' })
        assert.equal(reasonOf(await log.start(late, fsync)), 'superseded')
      },
    },
    {
      name: 'each start of one turn is judged by itself',
      async run({ open }) {
        const log = await open()
        await begin(log, attemptOf(2))
        await begin(log, attemptOf(3, { nodeId: 'other' }))
        const rows = [
          sampleRow({ attempt: 1 }),
          sampleRow({ attempt: 2 }),
          sampleRow({ attempt: 2, nodeId: 'other' }),
          sampleRow({ attempt: 3, nodeId: 'other' }),
          sampleRow({ attempt: 1, nodeId: 'third' }),
        ]
        const results = await Promise.all(rows.map(async (row) => log.start(row, fsync)))
        assert.deepEqual(results.map(reasonOf), ['superseded', 'ok', 'superseded', 'ok', 'ok'])
      },
    },
    {
      name: 'of racing starts the next attempt sees every one that was accepted',
      async run({ open, options }) {
        const logs = await Promise.all(Array.from({ length: 4 }, () => open()))
        const [next] = logs
        assert.ok(next)
        // Without several processes, a second opening is another log.
        const late = options.capabilities.multiProcess ? logs : [next]
        let unseen = 0
        let accepted = 0
        let refused = 0
        for (let round = 0; round < rounds; round += 1) {
          const task = { nodeId: `task ${round}` }
          await begin(next, attemptOf(1, task))
          const racing = late.flatMap((log, index) =>
            Array.from({ length: startsEach }, async (_, seq) => {
              // In turns of their own, so that they are statements of their own.
              await inTurns(seq)
              const row = sampleRow({ ...task, seq: index * startsEach + seq + 1 })
              const { ok } = await log.start(row, fsync)
              if (!ok) refused += 1
              return ok ? [row.callToken] : []
            }),
          )
          await inTurns(round % startsEach)
          await begin(next, attemptOf(2, task))
          const seen = await next.list({ nodeId: task.nodeId })
          const tokens = new Set(seen.map(({ callToken }) => callToken))
          const stored = (await Promise.all(racing)).flat()
          accepted += stored.length
          unseen += stored.filter((token) => !tokens.has(token)).length
        }
        assert.equal(unseen, 0, `${unseen} of ${accepted} starts came after the next attempt`)
        assert.equal(accepted + refused, rounds * late.length * startsEach)
      },
    },
    {
      name: 'prune forgets what began with its run, and not that of an open run',
      async run({ open }) {
        const log = await open()
        await begin(log, attemptOf(2))
        await begin(log, attemptOf(2, { runId: 'named' }))
        await begin(log, attemptOf(2, { runId: 'open' }))
        if (log.runs !== undefined) await log.runs.claim(runClaim({ runId: 'open' }))
        // What began since the oldest moment that is kept stays.
        await log.prune({ finishedBeforeMs: 1, runs: ['named'] })
        assert.equal(await begin(log, attemptOf(1)), 'superseded')
        assert.equal(await begin(log, attemptOf(1, { runId: 'named' })), 'ok')
        const isOpen = log.runs === undefined ? 'ok' : 'superseded'
        assert.equal(await begin(log, attemptOf(1, { runId: 'open' })), isOpen)
        await log.prune({ finishedBeforeMs: Number.MAX_SAFE_INTEGER })
        assert.equal(await begin(log, attemptOf(1)), 'ok')
        assert.equal(await begin(log, attemptOf(1, { runId: 'open' })), isOpen)
      },
    },
  ],
}

function keyed(known: readonly string[] | null): Parameters<ToolCallLog['start']>[1] {
  return { ...fsync, claim: 'inflight', ...(known !== null && { known }) }
}

async function inTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

const rounds = 10
const startsEach = 8
