import assert from 'node:assert/strict'
import { defaultListLimit, selectRows } from '@smithers/tool-core/log'
import type { ToolCallLog, ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustStart, sampleTimeMs, success } from '../sample-row.ts'

const task = { runId: 'run-1', nodeId: 'node-1', iteration: 0 }

export const ordering: ConformanceGroup = {
  title: '2 ordering',
  tests: [
    {
      name: 'a hundred calls started at once are listed by seq, whatever order they arrive in',
      async run({ open }) {
        const log = await open()
        // 37 is prime to 100: every seq once, in a scattered order, with a clock that runs backwards.
        const seqs = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) + 1)
        await Promise.all(
          seqs.map((seq, index) => mustStart(log, { seq, startedAtMs: sampleTimeMs - index })),
        )
        const listed = (await log.list(task)).map(({ seq }) => seq)
        assert.deepEqual(
          listed,
          Array.from({ length: 100 }, (_, index) => index + 1),
        )
      },
    },
    {
      name: 'the calls of a task are ordered by attempt, then by seq',
      async run({ open }) {
        const log = await open()
        for (const [attempt, seq] of [
          [10, 1],
          [2, 2],
          [1, 3],
          [2, 1],
          [1, 11],
          [1, 2],
        ] as const) {
          await mustStart(log, { attempt, seq })
        }
        assert.deepEqual(
          (await log.list(task)).map(({ attempt, seq }) => [attempt, seq]),
          [
            [1, 2],
            [1, 3],
            [1, 11],
            [2, 1],
            [2, 2],
            [10, 1],
          ],
        )
      },
    },
    {
      name: 'the calls of several tasks are ordered by start time, then by seq, then by token',
      async run({ open }) {
        const log = await open()
        const rows = [
          { nodeId: 'b', seq: 1, startedAtMs: 3, callToken: 'x' },
          { nodeId: 'a', seq: 2, startedAtMs: 3, callToken: 'w' },
          { nodeId: 'c', seq: 9, startedAtMs: 1, callToken: 'v' },
          { nodeId: 'd', seq: 2, startedAtMs: 3, callToken: 'u' },
        ]
        for (const row of rows) await mustStart(log, row)
        for (const query of [{}, { runId: 'run-1' }]) {
          assert.deepEqual(
            (await log.list(query)).map((row) => row.callToken),
            ['v', 'x', 'u', 'w'],
          )
        }
      },
    },
    {
      name: 'every filter selects its rows, alone and with others, in both directions',
      async run({ open }) {
        const log = await open()
        const rows = await variedRows(log)
        for (const query of filters) {
          const expected = selectRows(rows, query)
          assert.notEqual(expected.length, 0, `the suite has no row for ${JSON.stringify(query)}`)
          assert.deepEqual(await log.list(query), expected, JSON.stringify(query))
          const descending = { ...query, order: 'descending' } as const
          assert.deepEqual(
            await log.list(descending),
            expected.toReversed(),
            JSON.stringify(descending),
          )
        }
      },
    },
    {
      name: 'a query that no row meets lists nothing',
      async run({ open }) {
        const log = await open()
        await variedRows(log)
        for (const query of [
          { runId: 'none' },
          { attempt: 99 },
          { startedFromMs: 2 * sampleTimeMs },
        ]) {
          assert.deepEqual(await log.list(query), [])
        }
      },
    },
    {
      name: `a listing has at most ${defaultListLimit} rows unless the query says otherwise`,
      async run({ open }) {
        const log = await open()
        for (let seq = 1; seq <= defaultListLimit + 5; seq += 1) await mustStart(log, { seq })
        assert.equal((await log.list({})).length, defaultListLimit)
        assert.equal((await log.list({ limit: 3 })).length, 3)
        assert.equal((await log.list({ limit: 2 * defaultListLimit })).length, defaultListLimit + 5)
      },
    },
    {
      name: 'pages by cursor hold every row once, while other rows are inserted before and after the cursor',
      async run({ open }) {
        const log = await open()
        for (const order of ['ascending', 'descending'] as const) {
          for (const oneTask of [true, false]) {
            const runId = `run-${order}-${oneTask}`
            const query: ToolCallQuery = oneTask ? { ...task, runId } : { runId }
            const early = Array.from({ length: 50 }, (_, index) => ({
              runId,
              seq: 10 * (index + 1),
              // Several rows a millisecond: the time alone does not place a row.
              startedAtMs: sampleTimeMs + Math.floor(index / 7),
            }))
            const tokens: string[] = []
            for (const row of early) tokens.push(await mustStart(log, row))

            const seen = await readByPages(log, { ...query, order }, async (page) => {
              const at = { runId, startedAtMs: sampleTimeMs }
              await mustStart(log, { ...at, seq: page })
              await mustStart(log, { ...at, seq: 1000 + page, startedAtMs: sampleTimeMs + 100 })
            })
            assert.equal(new Set(seen).size, seen.length, 'a row was listed twice')
            const original = seen.filter((token) => tokens.includes(token))
            assert.deepEqual(original, order === 'ascending' ? tokens : tokens.toReversed())
          }
        }
      },
    },
  ],
}

async function readByPages(
  log: ToolCallLog,
  query: ToolCallQuery,
  between: (page: number) => Promise<void>,
): Promise<string[]> {
  const seen: string[] = []
  let after: ToolCallRow | undefined
  for (let page = 1; page < 100; page += 1) {
    const rows = await log.list({ ...query, limit: 7, ...(after === undefined ? {} : { after }) })
    if (rows.length === 0) return seen
    seen.push(...rows.map(({ callToken }) => callToken))
    after = rows.at(-1)
    if (page <= 5) await between(page)
  }
  throw new Error('the pages do not end')
}

async function variedRows(log: ToolCallLog): Promise<ToolCallRow[]> {
  let index = 0
  for (const runId of ['run-1', 'run-2']) {
    for (const nodeId of ['node-1', 'node-2']) {
      for (const iteration of [0, 1]) {
        for (const attempt of [1, 2, 3]) {
          index += 1
          const callToken = await mustStart(log, {
            runId,
            nodeId,
            iteration,
            attempt,
            callToken: `token-${index}`,
            seq: (index % 4) + 1,
            startedAtMs: sampleTimeMs + ((index * 7) % 11),
            toolName: index % 2 === 0 ? 'charge' : 'refund',
            idempotencyKey: `key-${index % 5}`,
            toolCallId: `call-${index % 3}`,
            inputHash: `hash-${index % 4}`,
          })
          if (index % 3 === 0) await log.finish(callToken, success())
          if (index % 3 === 1) await log.finish(callToken, failure())
        }
      }
    }
  }
  const rows = await log.list({})
  assert.equal(rows.length, index)
  return rows
}

const filters: readonly ToolCallQuery[] = [
  {},
  { runId: 'run-2' },
  { nodeId: 'node-2' },
  { iteration: 1 },
  { iteration: 0 },
  { attempt: 2 },
  { beforeAttempt: 3 },
  { toolName: 'refund' },
  { status: 'started' },
  { status: 'success' },
  { status: 'error' },
  { idempotencyKey: 'key-3' },
  { toolCallId: 'call-2' },
  { callToken: 'token-5' },
  { inputHash: 'hash-1' },
  { startedFromMs: sampleTimeMs + 4 },
  { startedBeforeMs: sampleTimeMs + 4 },
  { startedFromMs: sampleTimeMs + 2, startedBeforeMs: sampleTimeMs + 9, toolName: 'charge' },
  task,
  { ...task, beforeAttempt: 3, status: 'error' },
  { ...task, nodeId: 'node-2', iteration: 1, attempt: 3 },
  { runId: 'run-1', idempotencyKey: 'key-1', toolName: 'refund' },
  { runId: 'run-2', nodeId: 'node-1', beforeAttempt: 2 },
]
